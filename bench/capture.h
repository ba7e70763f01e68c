/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output of another program, for benches of whole machines. */
#ifndef BENCH_CAPTURE_H
#define BENCH_CAPTURE_H

#include <stdbool.h>

/*
 * Runs the command (NULL-terminated words) for at most `seconds`. True when its status is 0; *out
 * and *err then hold what it wrote (free with g_free; `err` may be NULL: passed on). False: said on
 * stderr, with the last lines of its output.
 */
bool bench_capture(const char *const *command, unsigned seconds, char **out, char **err);

/* The number behind the first `label` in `text`; NaN without one. */
double bench_number_after(const char *text, const char *label);

#endif /* BENCH_CAPTURE_H */
