// SPDX-License-Identifier: Apache-2.0
// What a decoder gives its rows to: they are scaled to all sizes as they come, so that few decoders keep a whole
// picture.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "colour.h"
#include "render.h"
#include "scale.h"

struct picture {
    const struct request *request;
    struct answer *answer;
    uint32_t width, height;
    enum model model;
    // Bits of a sample: 8 or 16.
    unsigned depth;
    // As EXIF numbers it, 1…8. A decoder may set it at any time.
    unsigned orientation;
    struct colour *colour;
    vector *row;
    struct scaler scalers[MOST_SIZES];
    // The scaled pictures, RGBA, not yet turned.
    uint8_t *scaled[MOST_SIZES];
};

// A decoder calls these in this order: judge, once it knows the size and before it allocates or decodes anything;
// begin, once it knows the rest; add_row, for each row from the top. If one returns false, the answer has the verdict.
bool picture_judge(struct picture *picture, uint64_t width, uint64_t height);
bool picture_begin(struct picture *picture, enum model model, unsigned depth);
// The row has four samples a pixel, RGBA or CMYK, of one or two bytes in the order of the machine.
void picture_add_row(struct picture *picture, const void *row);

// Replaces the colour space, which is sRGB unless a decoder sets another before it begins. NULL stands for sRGB.
void picture_set_colour(struct picture *picture, struct colour *colour);

// Sets the verdict and its reason, unless there is one; returns false.
bool picture_refuse(struct picture *picture, enum verdict verdict, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool picture_refuse_memory(struct picture *picture);

// Turns the scaled pictures, puts them on their canvas, and encodes them.
bool picture_finish(struct picture *picture);
void picture_clear(struct picture *picture);
