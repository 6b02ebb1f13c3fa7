/* SPDX-License-Identifier: Apache-2.0 */
/* The icons that a watch knows: a table by URL. */
#ifndef ICONCACHE_ICONS_H
#define ICONCACHE_ICONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sha256.h"

struct claim;

struct icon {
    struct icon *next; /* in its bucket */
    uint64_t hash;
    struct claim *claims; /* what lists say of it */
    size_t lists;         /* how many lists have a claim, also one that is not among `claims` yet */
    uint64_t mark;        /* the last document or batch that came across it */
    size_t index;         /* of its claim in that document, or of its change in that batch */
    bool has_image;       /* whether an image was reported */
    unsigned char image[SHA256_SIZE];
    char url[];
};

struct icons {
    struct icon **buckets;
    size_t size, count; /* the number of buckets, a power of two, and of icons */
    bool accelerated;
};

/* NULL if there is no icon of this URL. */
struct icon *icons_find(const struct icons *icons, const char *url);
/* NULL without memory. */
struct icon *icons_add(struct icons *icons, const char *url);
/* Takes an icon out of the table; the caller frees it. */
void icons_remove(struct icons *icons, struct icon *icon);
void icons_free(struct icons *icons);

#endif
