/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "task_double.h"

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace {

std::mutex lock;
std::condition_variable begun;
std::vector<RknpuJob> seen;
std::function<RknpuTaskResult(RknpuJob *)> behaviour;

} // namespace

namespace task_double {

void Reset()
{
    std::lock_guard<std::mutex> hold(lock);

    seen.clear();
    behaviour = nullptr;
}

void SetBehaviour(std::function<RknpuTaskResult(RknpuJob *)> wanted)
{
    std::lock_guard<std::mutex> hold(lock);

    behaviour = std::move(wanted);
}

std::vector<RknpuJob> Seen()
{
    std::lock_guard<std::mutex> hold(lock);

    return seen;
}

bool WaitForTask()
{
    std::unique_lock<std::mutex> hold(lock);

    return begun.wait_for(hold, std::chrono::seconds(10), [] { return !seen.empty(); });
}

} // namespace task_double

extern "C" RknpuTaskResult rknpu_task_run(RknpuJob *job)
{
    std::function<RknpuTaskResult(RknpuJob *)> action;

    {
        std::lock_guard<std::mutex> hold(lock);

        seen.push_back(*job);
        action = behaviour;
    }
    begun.notify_all();
    return action ? action(job) : RKNPU_TASK_OK;
}
