// SPDX-License-Identifier: Apache-2.0
// Scales a picture row by row, separably: rows in, scaled rows out.
//
// The filter is Catmull-Rom, over an area when it makes smaller. It works on the encoded values, as toolkits and
// browsers do: in linear light, light lines on a dark ground become thicker, with dark seams, and dark ones fade.
//
// What it gives depends on nothing but the two sizes and the rows: the sums have a fixed order, and the build allows no
// fused or reordered arithmetic.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// The four channels of a pixel.
typedef float vector __attribute__((vector_size(16)));

// For each place of one axis, the first place that it is made of, how many those are, and their weights.
struct weights {
    uint32_t *first, *count;
    float *values;
    // Of `values`, for each place; also the largest count.
    uint32_t stride;
};

struct scaler {
    uint32_t width, height;
    struct weights horizontal, vertical;
    // The last rows that came, scaled horizontally: as many as a row that goes out can need.
    vector *ring;
    // A row that goes out.
    vector *output;
    uint32_t added, finished;
};

bool scaler_open(
    struct scaler *scaler, uint32_t from_width, uint32_t from_height, uint32_t to_width, uint32_t to_height);
void scaler_add_row(struct scaler *scaler, const vector *row);
// NULL if more rows are needed first. It is valid until the next call.
const vector *scaler_next_row(struct scaler *scaler, uint32_t *y);
void scaler_close(struct scaler *scaler);
