/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_TOOL_SCRATCH_H
#define TESTS_TOOL_SCRATCH_H

#include <glib.h>
#include <string>

/* A temporary folder that goes with the object. */
class Scratch
{
public:
    Scratch();
    ~Scratch();
    Scratch(const Scratch &) = delete;
    Scratch &operator=(const Scratch &) = delete;

    std::string path(const std::string &name) const { return dir_ + "/" + name; }
    /* Writes a file, making the folders above it; returns its path. */
    std::string write(const std::string &name, const std::string &content) const;

private:
    std::string dir_;
};

/* What a shell command prints; the test fails when the command does. */
std::string output_of(const std::string &command);

/* Message of an error, which is freed; empty for none. */
std::string take(GError **error);

#endif
