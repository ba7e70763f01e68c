/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stands in for the computing half in tests of the walking half: linked before the model's library,
 * its rknpu_task_run() is the one that is used. It keeps what every task was given and ends as
 * told.
 */
#ifndef TESTS_UNIT_TASK_DOUBLE_H
#define TESTS_UNIT_TASK_DOUBLE_H

#include <functional>
#include <vector>

extern "C" {
#include "job.h"
}

namespace task_double {

/* Forgets the tasks seen, and lets every task end with RKNPU_TASK_OK. */
void Reset();

/* What a task does, on the worker's thread. */
void SetBehaviour(std::function<RknpuTaskResult(RknpuJob *)> behaviour);

/* Copies of the jobs that were run, in order; their pointers are dead. */
std::vector<RknpuJob> Seen();

/* Blocks until a task has begun after Reset(), at most ten seconds. */
bool WaitForTask();

} // namespace task_double

#endif /* TESTS_UNIT_TASK_DOUBLE_H */
