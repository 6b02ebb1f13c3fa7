/* SPDX-License-Identifier: Apache-2.0 */
#include "size.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool size_read(const char *text, struct size *size) {
    enum { DIGITS = 4 };
    uint32_t side = 0;
    const char *p = text;
    while (p - text < DIGITS && *p >= '0' && *p <= '9') side = side * 10 + (uint32_t)(*p++ - '0');
    if (text[0] == '0' || side < SIZE_LEAST || side > SIZE_MOST) return false;
    uint32_t scale = 1;
    if (p[0] == '@' && p[1] >= '2' && p[1] <= '0' + SCALE_MOST) {
        scale = (uint32_t)(p[1] - '0');
        p += 2;
    }
    *size = (struct size){.pixels = side * scale, .scale = scale};
    return *p == '\0';
}

void size_write(struct size size, char text[SIZE_LENGTH + 1]) {
    char suffix[3] = {'@', (char)('0' + size.scale), '\0'};
    snprintf(text, SIZE_LENGTH + 1, "%" PRIu32 "%s", size.pixels / size.scale, size.scale == 1 ? "" : suffix);
}

int size_compare(struct size one, struct size other) {
    if (one.pixels != other.pixels) return one.pixels < other.pixels ? -1 : 1;
    return (one.scale > other.scale) - (one.scale < other.scale);
}

uint32_t size_index(struct size size) {
    return (size.pixels / size.scale - SIZE_LEAST) * SCALE_MOST + size.scale - 1;
}
