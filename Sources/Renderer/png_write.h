// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "render.h"

// Encodes RGBA pixels of the rendition's width and height into its bytes; false if there is not enough memory.
bool png_write(const uint8_t *pixels, struct rendition *rendition);
