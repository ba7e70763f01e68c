/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A command stream as text, for fuzzing and for keeping what fuzzing found:
 *
 *   # what was wrong
 *   chip rk3588          (or rk3576)
 *   units 1d             unit mask of the enable word
 *   tasks 2              TASK_NUMBER; the program names itself as the next one
 *   scatter              every page of memory is a span of its own
 *   unmap 3              page 3 of memory is not mapped (repeatable)
 *   4084=7c8d            a register write, both sides hexadecimal
 *   word 1001000100004084  a whole command word
 */
#ifndef TESTS_FUZZ_SCRIPT_H
#define TESTS_FUZZ_SCRIPT_H

#include <cstdint>
#include <string>
#include <vector>

struct StreamScript {
    bool rk3576 = false;
    uint32_t units = 0x1d;
    uint32_t tasks = 1;
    bool scatter = false;
    std::vector<uint32_t> unmapped;
    std::vector<uint64_t> words;
};

/* Reads a script; a line that is none of the above ends in a failed test that names it. */
StreamScript ParseScript(const std::string &text);

/* Any bytes as a script: what a coverage-guided fuzzer calls. */
StreamScript ScriptFromBytes(const uint8_t *data, size_t size);

std::string ToText(const StreamScript &script);

/*
 * Runs the script on a fresh NPU with 2 MiB of memory, for at most `budget_ms`, then resets the
 * core. The NPU must be idle afterwards and every span given back; everything else is the
 * sanitizers' business.
 */
void RunScript(const StreamScript &script, unsigned budget_ms);

#endif /* TESTS_FUZZ_SCRIPT_H */
