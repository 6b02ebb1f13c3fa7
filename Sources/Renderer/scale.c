// SPDX-License-Identifier: Apache-2.0
#include "scale.h"

#include <stdlib.h>
#include <string.h>

// Half of what the filter covers, in pixels of the smaller picture.
enum { SUPPORT = 2 };

// Lanczos3 is a little sharper, but surrounds the hard edges of icons with visible halos, and needs half as much time
// again. Mitchell is softer than what toolkits draw.
static double catmull_rom(double x) {
    if (x < 0) x = -x;
    if (x < 1) return (1.5 * x - 2.5) * x * x + 1;
    if (x < 2) return ((-0.5 * x + 2.5) * x - 4) * x + 2;
    return 0;
}

static bool weights_open(struct weights *weights, uint32_t from, uint32_t to) {
    double scale = (double)from / to, stretch = scale > 1 ? scale : 1, support = SUPPORT * stretch;
    uint32_t most = 2 * (uint32_t)(support + 1) + 1;
    weights->stride = most < from ? most : from;
    weights->first = calloc(to, sizeof *weights->first);
    weights->count = calloc(to, sizeof *weights->count);
    weights->values = calloc((size_t)to * weights->stride, sizeof *weights->values);
    double *values = calloc(weights->stride, sizeof *values);
    bool is_open = weights->first != NULL && weights->count != NULL && weights->values != NULL && values != NULL;
    for (uint32_t i = 0; is_open && i < to; i++) {
        double centre = (i + 0.5) * scale, low = centre - support + 0.5, high = centre + support + 0.5;
        uint32_t first = low > 0 ? (uint32_t)low : 0;
        uint32_t end = high < from ? (uint32_t)high : from;
        double sum = 0;
        for (uint32_t place = first; place < end; place++) {
            values[place - first] = catmull_rom((place + 0.5 - centre) / stretch);
            sum += values[place - first];
        }
        // At the edges, part of the filter is outside.
        for (uint32_t k = 0; k < end - first; k++) {
            weights->values[(size_t)i * weights->stride + k] = (float)(values[k] / sum);
        }
        weights->first[i] = first;
        weights->count[i] = end - first;
    }
    free(values);
    return is_open;
}

static void weights_close(struct weights *weights) {
    free(weights->first);
    free(weights->count);
    free(weights->values);
}

bool scaler_open(
    struct scaler *scaler, uint32_t from_width, uint32_t from_height, uint32_t to_width, uint32_t to_height) {
    scaler->width = to_width;
    scaler->height = to_height;
    if (!weights_open(&scaler->horizontal, from_width, to_width)) return false;
    if (!weights_open(&scaler->vertical, from_height, to_height)) return false;
    scaler->ring = calloc((size_t)scaler->vertical.stride * to_width, sizeof(vector));
    scaler->output = calloc(to_width, sizeof(vector));
    return scaler->ring != NULL && scaler->output != NULL;
}

void scaler_close(struct scaler *scaler) {
    weights_close(&scaler->horizontal);
    weights_close(&scaler->vertical);
    free(scaler->ring);
    free(scaler->output);
    memset(scaler, 0, sizeof *scaler);
}

static vector repeated(float value) { return (vector){value, value, value, value}; }

void scaler_add_row(struct scaler *scaler, const vector *row) {
    const struct weights *weights = &scaler->horizontal;
    vector *to = scaler->ring + (size_t)(scaler->added % scaler->vertical.stride) * scaler->width;
    for (uint32_t x = 0; x < scaler->width; x++) {
        const vector *from = row + weights->first[x];
        const float *values = weights->values + (size_t)x * weights->stride;
        uint32_t count = weights->count[x], k = 0;
        // Four sums, because an addition takes as long as four can be started in.
        vector sums[4] = {{0}};
        for (; k + 4 <= count; k += 4) {
            for (uint32_t j = 0; j < 4; j++) sums[j] += from[k + j] * repeated(values[k + j]);
        }
        for (; k < count; k++) sums[0] += from[k] * repeated(values[k]);
        to[x] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
    scaler->added++;
}

const vector *scaler_next_row(struct scaler *scaler, uint32_t *y) {
    const struct weights *weights = &scaler->vertical;
    uint32_t row = scaler->finished;
    if (row == scaler->height || weights->first[row] + weights->count[row] > scaler->added) return NULL;
    memset(scaler->output, 0, scaler->width * sizeof(vector));
    for (uint32_t k = 0; k < weights->count[row]; k++) {
        const vector *from = scaler->ring + (size_t)((weights->first[row] + k) % weights->stride) * scaler->width;
        vector value = repeated(weights->values[(size_t)row * weights->stride + k]);
        for (uint32_t x = 0; x < scaler->width; x++) scaler->output[x] += from[x] * value;
    }
    *y = scaler->finished++;
    return scaler->output;
}
