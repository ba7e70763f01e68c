/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many models, one TAP line each.
 */
#ifndef TFLITE_TAP_H
#define TFLITE_TAP_H

#include "common.h"

/*
 * Compares each model on CPU and NPU, each in a process of its own, and prints a plan and a line
 * each. A model of which the delegate takes nothing is skipped. Returns an exit status.
 */
int tap_models(char **paths, int count, const struct options *o);

#endif
