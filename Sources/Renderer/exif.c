// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "decoders.h"

enum { ORIENTATION = 0x0112, TYPE_SHORT = 3 };

static uint32_t number(const uint8_t *at, unsigned size, bool is_big_endian) {
    uint32_t value = 0;
    for (unsigned i = 0; i < size; i++) value |= (uint32_t)at[i] << 8 * (is_big_endian ? size - 1 - i : i);
    return value;
}

unsigned exif_orientation(const uint8_t *bytes, size_t length) {
    // JPEG has this before it; some programs put it into other formats too.
    if (length >= 6 && memcmp(bytes, "Exif\0\0", 6) == 0) {
        bytes += 6;
        length -= 6;
    }
    if (length < 8) return 1;
    bool is_big_endian = memcmp(bytes, "MM\0*", 4) == 0;
    if (!is_big_endian && memcmp(bytes, "II*\0", 4) != 0) return 1;
    uint32_t offset = number(bytes + 4, 4, is_big_endian);
    if (offset > length - 2) return 1;
    uint32_t count = number(bytes + offset, 2, is_big_endian);
    const uint8_t *entry = bytes + offset + 2;
    for (size_t left = length - offset - 2; count > 0 && left >= 12; count--, left -= 12, entry += 12) {
        if (number(entry, 2, is_big_endian) != ORIENTATION) continue;
        uint32_t value = number(entry + 8, 2, is_big_endian);
        bool is_valid = number(entry + 2, 2, is_big_endian) == TYPE_SHORT && value >= 1 && value <= 8;
        return is_valid ? value : 1;
    }
    return 1;
}
