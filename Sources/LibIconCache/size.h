/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of renditions: “64”, or “64@2” for 64 at a scale of 2. */
#ifndef ICONCACHE_SIZE_H
#define ICONCACHE_SIZE_H

#include <stdbool.h>
#include <stdint.h>

struct size {
    uint32_t pixels, scale; /* of 64@2: 128 and 2 */
};

enum {
    SIZE_LENGTH = 6, /* of the longest one, 1024@4 */
    SIZE_LEAST = 8,
    SIZE_MOST = 1024, /* of a side, without its scale */
    SCALE_MOST = 4,
    SIZE_COUNT = (SIZE_MOST - SIZE_LEAST + 1) * SCALE_MOST
};

/* Whether a text is a size. There is one spelling of each. */
bool size_read(const char *text, struct size *size);
void size_write(struct size size, char text[SIZE_LENGTH + 1]);
/* By pixels, then by scale. */
int size_compare(struct size one, struct size other);
/* A number below SIZE_COUNT. */
uint32_t size_index(struct size size);

#endif
