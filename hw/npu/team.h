/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Helper threads of one NPU. A core's worker takes what is idle of them for the parts of a big
 * task; none is ever waited for.
 */
#ifndef HW_NPU_TEAM_H
#define HW_NPU_TEAM_H

#include "rknpu/npu.h"

typedef struct RknpuTeam RknpuTeam;

/* Computes one part; parts run at the same time. */
typedef void RknpuTeamWork(void *opaque, unsigned part);

/* `helpers` threads, idle; each tells host->thread when it starts and ends. NULL for none. */
RknpuTeam *rknpu_team_new(unsigned helpers, const RknpuHost *host, void *opaque);

/* Ends the threads and frees; nobody may be inside rknpu_team_run(). NULL is allowed. */
void rknpu_team_free(RknpuTeam *team);

/*
 * Takes up to `wanted` idle helpers and returns how many, 0 for a NULL team. They belong to the
 * caller until rknpu_team_run(), which must follow when there are any.
 */
unsigned rknpu_team_take(RknpuTeam *team, unsigned wanted);

/*
 * work(opaque, n) for n from 0 to `taken`: 0 on this thread, the others on the helpers or, when
 * those do not get to it, on this thread too. Returns when all have ended; the helpers are idle
 * again then.
 */
void rknpu_team_run(RknpuTeam *team, unsigned taken, RknpuTeamWork *work, void *opaque);

#endif /* HW_NPU_TEAM_H */
