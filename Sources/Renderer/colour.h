// SPDX-License-Identifier: Apache-2.0
// Converts colours to sRGB.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "scale.h"

// What a decoder's rows mean. Those of gray pictures are RGB like others; the difference is which profiles fit.
enum model { MODEL_RGB, MODEL_GRAY, MODEL_CMYK };

// A conversion; NULL is none, for pictures that are sRGB already.
struct colour;

// By an ICC profile. NULL if it is broken or not one for such a picture.
struct colour *colour_from_profile(enum model model, const void *profile, size_t length);

// By the exponent that encoded it (such as 1/2.2) and x and y of white, red, green and blue (NULL: those of sRGB).
// NULL if that is sRGB, or if it makes no sense.
struct colour *colour_from_gamma(double encoding, const double chromaticities[8]);

void colour_free(struct colour *colour);

// Makes what later conversions need: it opens /etc/localtime.
void colour_warm_up(void);

// Turns a row of 0…255, multiplied by alpha unless CMYK, into RGBA that is not.
void colour_convert(
    const struct colour *colour, enum model model, const vector *row, uint32_t width, uint8_t *rgba);
