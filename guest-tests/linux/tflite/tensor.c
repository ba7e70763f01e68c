/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is done with tensors: filling inputs, comparing results, naming classes.
 */
#include "tensor.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CONV_2D = 3, DEPTHWISE_CONV_2D = 4, FULLY_CONNECTED = 9 };

static size_t element_size(TfLiteType type)
{
    switch (type) {
    case kTfLiteUInt8:
    case kTfLiteInt8:
    case kTfLiteBool:
        return 1;
    case kTfLiteInt16:
        return 2;
    case kTfLiteFloat32:
    case kTfLiteInt32:
        return 4;
    case kTfLiteInt64:
        return 8;
    default:
        return 0;
    }
}

static size_t element_count(const TfLiteTensor *t)
{
    size_t size = element_size(TfLiteTensorType(t));

    return size ? TfLiteTensorByteSize(t) / size : 0;
}

static double element(const TfLiteTensor *t, size_t i)
{
    const void *data = TfLiteTensorData(t);

    switch (TfLiteTensorType(t)) {
    case kTfLiteUInt8:
    case kTfLiteBool:
        return ((const uint8_t *)data)[i];
    case kTfLiteInt8:
        return ((const int8_t *)data)[i];
    case kTfLiteInt16:
        return ((const int16_t *)data)[i];
    case kTfLiteInt32:
        return ((const int32_t *)data)[i];
    case kTfLiteInt64:
        return (double)((const int64_t *)data)[i];
    case kTfLiteFloat32:
        return (double)((const float *)data)[i];
    default:
        return 0;
    }
}

double tensor_value(const TfLiteTensor *t, size_t index)
{
    TfLiteQuantizationParams q = TfLiteTensorQuantizationParams(t);
    double raw = element(t, index);

    return q.scale != 0 ? (raw - q.zero_point) * (double)q.scale : raw;
}

/* One number of a PPM header; comments run from # to the end of the line. */
static int ppm_number(FILE *f)
{
    int c = fgetc(f), value = 0, digits = 0;

    while (isspace(c) || c == '#') {
        while (c == '#' && (c = fgetc(f)) != '\n' && c != EOF) {
            c = '#';
        }
        c = fgetc(f);
    }
    for (; isdigit(c) && digits < 6; digits++) {
        value = value * 10 + c - '0';
        c = fgetc(f);
    }
    return digits ? value : -1;
}

/* Reads the header if the file is a picture; false if it is one of the wrong size. */
static bool ppm_header(FILE *f, const TfLiteTensor *t, const char *path)
{
    int width, height;

    if (fgetc(f) != 'P' || fgetc(f) != '6') {
        rewind(f);
        return true;
    }
    width = ppm_number(f);
    height = ppm_number(f);
    if (ppm_number(f) == 255 && TfLiteTensorNumDims(t) == 4 && TfLiteTensorDim(t, 1) == height &&
        TfLiteTensorDim(t, 2) == width && TfLiteTensorDim(t, 3) == 3) {
        return true;
    }
    fprintf(stderr, "tflite-run: %s is %dx%d, the network wants %dx%d: scale it with pamscale\n",
            path, width, height, TfLiteTensorNumDims(t) > 2 ? TfLiteTensorDim(t, 2) : 0,
            TfLiteTensorNumDims(t) > 2 ? TfLiteTensorDim(t, 1) : 0);
    return false;
}

bool tensor_from_file(TfLiteTensor *t, const char *path)
{
    size_t size = TfLiteTensorByteSize(t);
    FILE *f = fopen(path, "rb");
    bool good = false;

    if (!f) {
        perror(path);
        return false;
    }
    if (ppm_header(f, t, path)) {
        good = fread(TfLiteTensorData(t), 1, size, f) == size && fgetc(f) == EOF;
        if (!good) {
            fprintf(stderr, "tflite-run: %s does not hold the %zu bytes of the input\n", path,
                    size);
        }
    }
    fclose(f);
    return good;
}

/* Sebastiano Vigna's splitmix64: short, and the same everywhere. */
static uint64_t next_random(uint64_t *seed)
{
    uint64_t z = *seed += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void tensor_from_seed(TfLiteTensor *t, uint64_t *seed)
{
    uint8_t *bytes = TfLiteTensorData(t);
    size_t count = element_count(t);

    if (TfLiteTensorType(t) == kTfLiteFloat32) {
        for (size_t i = 0; i < count; i++) {
            ((float *)(void *)bytes)[i] = (float)(next_random(seed) >> 40) / (float)(1 << 23) - 1;
        }
        return;
    }
    for (size_t i = 0; i < TfLiteTensorByteSize(t); i++) {
        bytes[i] = (uint8_t)(next_random(seed) >> 56);
    }
}

struct difference tensor_compare(const TfLiteTensor *a, const TfLiteTensor *b)
{
    struct difference d = { .elements = element_count(a) };

    for (size_t i = 0; i < d.elements; i++) {
        double distance = fabs(element(a, i) - element(b, i));

        d.differing += distance != 0;
        if (distance > d.largest) {
            d.largest = distance;
            d.first = i;
        }
    }
    return d;
}

double tensor_macs(int code, const TfLiteTensor *weights, const TfLiteTensor *output)
{
    double macs = (double)element_count(output);
    int dims = weights ? TfLiteTensorNumDims(weights) : 0;

    if (code == FULLY_CONNECTED && dims == 2) {
        return macs * TfLiteTensorDim(weights, 1);
    }
    if ((code == CONV_2D || code == DEPTHWISE_CONV_2D) && dims == 4) {
        macs *= (double)TfLiteTensorDim(weights, 1) * TfLiteTensorDim(weights, 2);
        return code == CONV_2D ? macs * TfLiteTensorDim(weights, 3) : macs;
    }
    return 0;
}

void tensor_shape(const TfLiteTensor *t, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (int i = TfLiteTensorNumDims(t) > 1 ? 1 : 0; i < TfLiteTensorNumDims(t); i++) {
        int n = snprintf(text + used, size - used, "%s%d", used ? "x" : "", TfLiteTensorDim(t, i));

        if (n < 0 || (size_t)n >= size - used) {
            return;
        }
        used += (size_t)n;
    }
}

unsigned tensor_top(const TfLiteTensor *t, unsigned *indices, unsigned count)
{
    size_t elements = element_count(t);
    unsigned found = 0;

    for (size_t i = 0; i < elements; i++) {
        unsigned at = found < count ? found++ : count;

        while (at > 0 && element(t, i) > element(t, indices[at - 1])) {
            if (at < count) {
                indices[at] = indices[at - 1];
            }
            at--;
        }
        if (at < count) {
            indices[at] = (unsigned)i;
        }
    }
    return found;
}
