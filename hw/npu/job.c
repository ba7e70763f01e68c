/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a task's computation asks of its job: register fields, cancellation, reports (job.h). */
#include <glib.h>
#include "job.h"

int64_t rknpu_field(const RknpuJob *job, RknpuFieldId id)
{
    const RknpuField *field = &job->chip->fields[id];
    static const RknpuBlock block_of_page[8] = {
        [1] = RKNPU_CNA, [3] = RKNPU_CORE, [4] = RKNPU_DPU,
        [5] = RKNPU_DPU_RDMA, [6] = RKNPU_PPU, [7] = RKNPU_PPU_RDMA,
    };

    if (field->width == 0) {
        return 0;
    }
    return rknpu_field_value(field,
                             job->reg[block_of_page[field->reg >> 12]][(field->reg & 0xfff) / 4]);
}

bool rknpu_cancelled(const RknpuJob *job)
{
    return job->cancel && g_atomic_int_get(job->cancel);
}

void rknpu_report(const RknpuJob *job, RknpuEventType type, uint64_t value, const char *format, ...)
{
    g_autofree char *text = NULL;
    va_list args;

    if (!job->report) {
        return;
    }
    va_start(args, format);
    text = g_strdup_vprintf(format, args);
    va_end(args);
    job->report(job->report_opaque, type, text, value);
}
