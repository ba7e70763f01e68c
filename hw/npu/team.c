/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "team.h"

#include <glib.h>

/* One rknpu_team_run(), on its caller's stack. */
typedef struct Run {
    RknpuTeamWork *work;
    void *opaque;
    unsigned next;    /* part to begin next */
    unsigned unbegun; /* parts that nobody has begun */
    unsigned left;    /* parts that have not ended, the caller's own left out */
    struct Run *following;
} Run;

struct RknpuTeam {
    const RknpuHost *host;
    void *opaque;
    GThread **thread;
    unsigned threads;

    GMutex lock; /* of everything below */
    GCond begin;
    GCond ended;
    unsigned idle; /* helpers that nobody has taken */
    Run *runs;     /* with parts that nobody has begun */
    bool stopping;
};

/* Lock held on entry and return: computes a part that nobody has begun. */
static void work_on(RknpuTeam *team, Run *run)
{
    unsigned part = run->next++;
    Run **link = &team->runs;

    if (--run->unbegun == 0) {
        while (*link != run) {
            link = &(*link)->following;
        }
        *link = run->following;
    }
    g_mutex_unlock(&team->lock);
    run->work(run->opaque, part);
    g_mutex_lock(&team->lock);
    team->idle++;
    if (--run->left == 0) {
        g_cond_broadcast(&team->ended);
    }
}

static gpointer helper(gpointer opaque)
{
    RknpuTeam *team = opaque;

    if (team->host->thread) {
        team->host->thread(team->opaque, true);
    }
    g_mutex_lock(&team->lock);
    while (!team->stopping) {
        if (team->runs) {
            work_on(team, team->runs);
        } else {
            g_cond_wait(&team->begin, &team->lock);
        }
    }
    g_mutex_unlock(&team->lock);
    if (team->host->thread) {
        team->host->thread(team->opaque, false);
    }
    return NULL;
}

RknpuTeam *rknpu_team_new(unsigned helpers, const RknpuHost *host, void *opaque)
{
    RknpuTeam *team = helpers ? g_new0(RknpuTeam, 1) : NULL;

    if (!team) {
        return NULL;
    }
    team->host = host;
    team->opaque = opaque;
    team->idle = team->threads = helpers;
    team->thread = g_new(GThread *, helpers);
    g_mutex_init(&team->lock);
    g_cond_init(&team->begin);
    g_cond_init(&team->ended);
    for (unsigned i = 0; i < helpers; i++) {
        g_autofree char *name = g_strdup_printf("npu-help%u", i);

        team->thread[i] = g_thread_new(name, helper, team);
    }
    return team;
}

void rknpu_team_free(RknpuTeam *team)
{
    if (!team) {
        return;
    }
    g_mutex_lock(&team->lock);
    team->stopping = true;
    g_cond_broadcast(&team->begin);
    g_mutex_unlock(&team->lock);
    for (unsigned i = 0; i < team->threads; i++) {
        g_thread_join(team->thread[i]);
    }
    g_cond_clear(&team->begin);
    g_cond_clear(&team->ended);
    g_mutex_clear(&team->lock);
    g_free(team->thread);
    g_free(team);
}

unsigned rknpu_team_take(RknpuTeam *team, unsigned wanted)
{
    unsigned taken;

    if (!team || !wanted) {
        return 0;
    }
    g_mutex_lock(&team->lock);
    taken = MIN(wanted, team->idle);
    team->idle -= taken;
    g_mutex_unlock(&team->lock);
    return taken;
}

void rknpu_team_run(RknpuTeam *team, unsigned taken, RknpuTeamWork *work, void *opaque)
{
    Run run = { .work = work, .opaque = opaque, .next = 1, .unbegun = taken, .left = taken };

    if (taken) {
        g_mutex_lock(&team->lock);
        run.following = team->runs;
        team->runs = &run;
        g_cond_broadcast(&team->begin);
        g_mutex_unlock(&team->lock);
    }
    work(opaque, 0);
    if (taken) {
        g_mutex_lock(&team->lock);
        while (run.left) {
            if (run.unbegun) { /* the host is too busy for the helpers */
                work_on(team, &run);
            } else {
                g_cond_wait(&team->ended, &team->lock);
            }
        }
        g_mutex_unlock(&team->lock);
    }
}
