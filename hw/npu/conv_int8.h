/* SPDX-License-Identifier: GPL-2.0-or-later */
/* int8 convolutions through the kernels: what the direct and the depthwise driver share. */
#ifndef HW_NPU_CONV_INT8_H
#define HW_NPU_CONV_INT8_H

#include "conv.h"
#include "requant.h"

/* Limits of the scratch memory; a task beyond them takes the generic path. */
#define RKNPU_STAGED_MAX  (8u << 20)   /* input of one strip */
#define RKNPU_PACKED_MAX  (8u << 20)   /* one group of kernels */
#define RKNPU_STRIP_BYTES (224u << 10) /* staged input that stays in a host core's second cache */

/* How the rows of a cube lie in memory; decides what is one contiguous range. */
typedef enum RknpuLayout {
    RKNPU_LAYOUT_ROWS,  /* rows of a surface follow each other */
    RKNPU_LAYOUT_LINES, /* all surfaces of a pixel follow each other: a row-major matrix */
    RKNPU_LAYOUT_OTHER, /* neither: row by row, by copies */
} RknpuLayout;

/* A strip: rows [y, y + rows) and columns [x, x + columns) of the output. */
typedef struct RknpuStrip {
    unsigned y, rows;
    unsigned x, columns;
} RknpuStrip;

typedef struct RknpuInt8Conv {
    RknpuConvState *state;
    const RknpuConv *conv;
    RknpuOutput out;                           /* flattened: one long row */
    unsigned in_width, in_height, width_limit; /* the same for the input */
    const RknpuInt8Kernels *kernels;
    RknpuRequantPlan plan;
    bool identity; /* accumulators reach memory unchanged */
    bool fused;    /* the kernels write output bytes; else accumulators go to dpu.c */
    int8_t pad;
    uint64_t viewed; /* bytes, since views were last given back */
} RknpuInt8Conv;

/* Direct and depthwise convolution of a prepared task; `*taken` as in rknpu_conv_int8(). */
RknpuTaskResult rknpu_int8_direct(RknpuInt8Conv *c, bool *taken);
RknpuTaskResult rknpu_int8_depthwise(RknpuInt8Conv *c, bool *taken);

/*
 * For the end of a strip that has viewed some `bytes`: gives the views back once they are many,
 * since mapping them again costs more than a small strip's arithmetic. False = write fault.
 */
bool rknpu_int8_strip_done(RknpuInt8Conv *c, uint64_t bytes);

/* Input. */
typedef struct RknpuInputRows {
    RknpuLayout layout;
    unsigned first_row, rows; /* that are viewed */
    unsigned first_column, columns;
    unsigned first_surface, surfaces;
    const uint8_t **surface; /* ROWS: first viewed byte of each surface; LINES: of line 0 alone */
    unsigned plain; /* surfaces from 0 on whose memory bytes are the signed values of 16 channels */
} RknpuInputRows;

/* `wanted` surfaces from `first` on; those that the cube lacks read as zeros. Close frees. */
void rknpu_int8_open_input(const RknpuInt8Conv *c, RknpuInputRows *in, unsigned first,
                           unsigned wanted);
void rknpu_int8_close_input(RknpuInputRows *in);

/*
 * Views the part of the input that lies inside [row, row + rows) x [column, column + columns) for
 * the given surfaces; coordinates may lie outside the picture. False = read fault.
 */
bool rknpu_int8_view_input(const RknpuInt8Conv *c, RknpuInputRows *in, int64_t row, int64_t rows,
                           int64_t column, int64_t columns);

/* True when rknpu_int8_input_row() gives pointers into memory, at no cost, up to this surface. */
bool rknpu_int8_rows_are_memory(const RknpuInputRows *in, unsigned surface);

/* 16-byte pixels of a viewed row from the first viewed column on; NULL = read fault. May use the
 * row scratch. */
const uint8_t *rknpu_int8_input_row(const RknpuInt8Conv *c, const RknpuInputRows *in,
                                    unsigned surface, unsigned row);

/* Output of a strip: one range of bytes per atom and row. */
typedef struct RknpuOutputRows {
    RknpuLayout layout;
    RknpuStrip strip;
    unsigned first_atom, atoms;
    uint8_t *base;  /* LINES: whole strip; OTHER: scratch, [atom][row][pixel] */
    uint8_t **atom; /* ROWS: first byte of each atom */
} RknpuOutputRows;

RknpuLayout rknpu_int8_output_layout(const RknpuOutput *out);
/* False = write fault (or no memory for the copy, which counts as one). */
bool rknpu_int8_view_output(const RknpuInt8Conv *c, RknpuOutputRows *rows);
uint8_t *rknpu_int8_output_row(const RknpuInt8Conv *c, const RknpuOutputRows *rows, unsigned atom,
                               unsigned y);
/* Brings copies to memory. False = write fault. */
bool rknpu_int8_finish_output(const RknpuInt8Conv *c, const RknpuOutputRows *rows);

/* EW operands of the strip, [atom][row][pixel][16]; NULL = read fault. */
const int8_t *rknpu_int8_operands(const RknpuInt8Conv *c, const RknpuOutputRows *rows);

/* Accumulators [pixel][acc_step] of one row and up to 32 channels through dpu.c's stages to memory.
 */
RknpuTaskResult rknpu_int8_stages(const RknpuInt8Conv *c, unsigned channel, unsigned channels,
                                  unsigned y, unsigned x, unsigned pixels, const int32_t *acc,
                                  unsigned acc_step);

#endif /* HW_NPU_CONV_INT8_H */
