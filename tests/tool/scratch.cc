/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "scratch.h"

#include <gtest/gtest.h>

#include <cstdio>

Scratch::Scratch()
{
    char *dir = g_dir_make_tmp("rknpu-tool-test-XXXXXX", nullptr);

    dir_ = dir;
    g_free(dir);
}

Scratch::~Scratch()
{
    output_of("rm -rf '" + dir_ + "'");
}

std::string Scratch::write(const std::string &name, const std::string &content) const
{
    std::string file = path(name);
    char *above = g_path_get_dirname(file.c_str());

    g_mkdir_with_parents(above, 0755);
    g_free(above);
    EXPECT_TRUE(g_file_set_contents(file.c_str(), content.data(), content.size(), nullptr));
    return file;
}

std::string output_of(const std::string &command)
{
    FILE *pipe = popen(command.c_str(), "r");
    std::string out;
    int c;

    while (pipe && (c = getc(pipe)) != EOF) {
        out += static_cast<char>(c);
    }
    EXPECT_TRUE(pipe && pclose(pipe) == 0) << command;
    return out;
}

std::string take(GError **error)
{
    std::string message = *error ? (*error)->message : "";

    g_clear_error(error);
    return message;
}
