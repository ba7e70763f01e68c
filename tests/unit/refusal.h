/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings that the model refuses: no program is known that uses them. */
#ifndef TESTS_UNIT_REFUSAL_H
#define TESTS_UNIT_REFUSAL_H

#include <gtest/gtest.h>

#include "fake_host.h"

struct Refusal {
    uint32_t offset, value; /* the register that makes a good task one that is refused */
    const char *name;       /* what the report must name */
};

/* Changes the task so; then it must end as unmodelled, with a report that names the reason. */
inline void ExpectRefused(TaskRunner &task, const Refusal &refusal)
{
    task.set(refusal.offset, refusal.value);
    EXPECT_EQ(task.run(), RKNPU_TASK_UNIMP) << refusal.name;
    ASSERT_FALSE(task.reports.empty()) << refusal.name;
    EXPECT_NE(task.reports[0].find(refusal.name), std::string::npos) << task.reports[0];
}

#endif /* TESTS_UNIT_REFUSAL_H */
