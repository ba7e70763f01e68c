/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A row of pixels in tiles whose width is a constant for the compiler, so that a tile's sums stay
 * in registers. Widths are nearly equal: at most 6, 14 pixels are 5 + 5 + 4, not 6 + 6 + 2.
 */
#ifndef HW_NPU_KERNELS_TILES_H
#define HW_NPU_KERNELS_TILES_H

/* Calls tile(d, first pixel, width, ...) for all d->pixels; `most` is a number from 1 to 8. */
#define RKNPU_FOR_TILES(most, tile, d, ...) RKNPU_FOR_TILES_FROM(0, most, tile, d, ##__VA_ARGS__)

/* For those from pixel `from` on. */
#define RKNPU_FOR_TILES_FROM(from, most, tile, d, ...)                                             \
    RKNPU_FOR_TILES_(from, most, tile, d, ##__VA_ARGS__)

/* The wider tiles, then those of one pixel less: a jump for each tile would cost a twentieth. */
#define RKNPU_FOR_TILES_(from, most, tile, d, ...)                                                 \
    for (unsigned pixel = (from), end = (d)->pixels, tiles = (end - pixel + (most)-1) / (most),    \
                  width = tiles ? (end - pixel + tiles - 1) / tiles : 0,                           \
                  first = end - pixel - tiles * (width - 1);                                       \
         pixel < end; width--, first = tiles - first) {                                            \
        unsigned stop = pixel + first * width;                                                     \
                                                                                                   \
        switch (width) {                                                                           \
            RKNPU_TILES_##most(tile, d, ##__VA_ARGS__)                                             \
        }                                                                                          \
    }

#define RKNPU_TILE(n, tile, d, ...)                                                                \
    case n:                                                                                        \
        for (; pixel < stop; pixel += n) {                                                         \
            tile(d, pixel, n, ##__VA_ARGS__);                                                      \
        }                                                                                          \
        break;
#define RKNPU_TILES_1(...) RKNPU_TILE(1, __VA_ARGS__)
#define RKNPU_TILES_2(...) RKNPU_TILE(2, __VA_ARGS__) RKNPU_TILES_1(__VA_ARGS__)
#define RKNPU_TILES_3(...) RKNPU_TILE(3, __VA_ARGS__) RKNPU_TILES_2(__VA_ARGS__)
#define RKNPU_TILES_4(...) RKNPU_TILE(4, __VA_ARGS__) RKNPU_TILES_3(__VA_ARGS__)
#define RKNPU_TILES_5(...) RKNPU_TILE(5, __VA_ARGS__) RKNPU_TILES_4(__VA_ARGS__)
#define RKNPU_TILES_6(...) RKNPU_TILE(6, __VA_ARGS__) RKNPU_TILES_5(__VA_ARGS__)
#define RKNPU_TILES_7(...) RKNPU_TILE(7, __VA_ARGS__) RKNPU_TILES_6(__VA_ARGS__)
#define RKNPU_TILES_8(...) RKNPU_TILE(8, __VA_ARGS__) RKNPU_TILES_7(__VA_ARGS__)

#endif /* HW_NPU_KERNELS_TILES_H */
