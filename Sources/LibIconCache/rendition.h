/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the renditions of an entry. */
#ifndef ICONCACHE_RENDITION_H
#define ICONCACHE_RENDITION_H

#include "json.h"
#include "size.h"

/* A rendition, as it is in the text. */
struct rendition {
    struct size size;
    json_text path, sha256;
    int64_t bytes, width, height;
};

/* The renditions of an entry, one after the other. */
struct renditions {
    json parser;
    unsigned char seen[(SIZE_COUNT + 7) / 8]; /* a bit for each size that was read; the first value counts */
};

/* Begins with the object that is the next value; false if it is none. */
bool renditions_begin(struct renditions *renditions, const json *parser);
/*
 * Reads the next rendition, and checks it completely: 1, 0 after the last one, or -1 if it is none. If it is JSON of
 * this format otherwise, `reason` says what is wrong then.
 */
int renditions_next(struct renditions *renditions, struct rendition *rendition, const char **reason);
/* Reads all of them, and moves the parser past them. */
bool renditions_count(json *parser, size_t *count, const char **reason);

#endif
