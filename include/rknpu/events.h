/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The event log: one stream of facts about what the NPU did, from which every view of memory is
 * made (text, JSON, pictures). The model reports, readers interpret; nobody keeps a second set of
 * books.
 *
 * Events are handed to RknpuHost.event as they happen, on the thread where they happen. With no
 * consumer the cost is one branch.
 */
#ifndef RKNPU_EVENTS_H
#define RKNPU_EVENTS_H

#include <stdint.h>
#include "rknpu/memory.h"

typedef enum RknpuEventType {
    RKNPU_EVENT_JOB_START,   /* address = program IOVA, a = TASK_NUMBER, b = REGISTER_AMOUNTS */
    RKNPU_EVENT_JOB_END,     /* a = tasks run, b = raw interrupt bits raised */
    /* the job will never complete: text says why; address = IOVA or program */
    RKNPU_EVENT_JOB_STALL,
    RKNPU_EVENT_JOB_CANCEL,  /* reset or removal stopped a running job */
    RKNPU_EVENT_TASK_START,  /* address = program IOVA, a = unit mask, b = words executed */
    RKNPU_EVENT_TASK_END,    /* a = unit mask, b = MACs done (low 64 bits), duration_ns set */
    RKNPU_EVENT_READ,        /* stream, kind, address = IOVA, phys, a = bytes */
    RKNPU_EVENT_WRITE,       /* the same for an output */
    RKNPU_EVENT_FAULT, /* stream, address = IOVA that could not be mapped, a = 1 for a write */
    RKNPU_EVENT_IRQ,         /* a = raw status, b = mask */
    RKNPU_EVENT_RESET,       /* a core was reset */
    RKNPU_EVENT_GUEST_ERROR, /* the guest broke a rule: text names register and rule */
    RKNPU_EVENT_UNIMP,       /* a register or mode that is not modelled: text names it; a = value */
    RKNPU_EVENT_TYPES
} RknpuEventType;

/*
 * One event. Fields that a type does not name are zero (or NULL).
 *   core   core number
 *   task   number of the task inside its job, from 0
 *   ns     RknpuHost.now() when the event happened
 *   text   a static or caller-owned string that is valid during the callback only
 */
typedef struct RknpuEvent {
    RknpuEventType type;
    unsigned core;
    unsigned task;
    int64_t ns;
    int64_t duration_ns;
    RknpuStream stream;
    RknpuMemKind kind;
    uint32_t address;
    uint64_t phys;
    uint64_t a;
    uint64_t b;
    const char *text;
} RknpuEvent;

/* Lower-case name of a type ("job-start", "read", ...); never NULL. */
const char *rknpu_event_name(RknpuEventType type);

/*
 * One line of text or one JSON object (no newline) for the event; the caller frees it with
 * g_free(). The JSON keys are the field names above; fields that the type does not use are left
 * out.
 */
char *rknpu_event_to_text(const RknpuEvent *ev);
char *rknpu_event_to_json(const RknpuEvent *ev);

#endif /* RKNPU_EVENTS_H */
