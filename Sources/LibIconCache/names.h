/* SPDX-License-Identifier: Apache-2.0 */
/* The names of a URL's image in the cache folder, in the order in which a reader tries them. */
#ifndef ICONCACHE_NAMES_H
#define ICONCACHE_NAMES_H

#include <dirent.h>

#include "cache.h"
#include "sha256.h"
#include "size.h"

struct names {
    const iconcache *cache;
    char digits[SHA256_DIGITS]; /* of the URL */
    DIR *sizes;                 /* by-size/; NULL if it has no further sizes */
    struct size size;           /* that of the last name */
    bool is_done;
};

/* The size of a buffer for any name, and for that in by-url/ alone. */
size_t names_size(const iconcache *cache);
size_t names_size_by_url(const iconcache *cache);

/*
 * Begins with renditions that have at least so many pixels; 0: with the image itself. If by-size/ cannot be listed, it
 * has no sizes. The buffer is for a name.
 */
void names_begin(struct names *names, const iconcache *cache, const char *url, uint32_t pixels, char *buffer);
/* Writes the next name as an absolute path: those of renditions, the smallest first, then that in by-url/. */
bool names_next(struct names *names, char *path);
void names_end(struct names *names);

#endif
