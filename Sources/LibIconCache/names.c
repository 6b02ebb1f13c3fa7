/* SPDX-License-Identifier: Apache-2.0 */
#include "names.h"

#include <string.h>

static const char by_url[] = "/by-url", by_size[] = "/by-size";
/* What follows after the folder of names. */
enum { NAME = sizeof "/ab/" - 1 + SHA256_DIGITS + 1 };

size_t names_size_by_url(const iconcache *cache) { return cache->size + sizeof by_url - 1 + NAME; }

size_t names_size(const iconcache *cache) { return cache->size + sizeof by_size - 1 + 1 + SIZE_LENGTH + NAME; }

/* Writes a text, and returns the place of the zero byte after it. */
static char *write_text(char *target, const char *text, size_t size) {
    memcpy(target, text, size);
    target[size] = '\0';
    return target + size;
}

static void write_name(const struct names *names, char *target) {
    *target++ = '/';
    target = write_text(target, names->digits, 2);
    *target++ = '/';
    write_text(target, names->digits, SHA256_DIGITS);
}

void names_begin(struct names *names, const iconcache *cache, const char *url, uint32_t pixels, char *buffer) {
    unsigned char digest[SHA256_SIZE];
    sha256(url, strlen(url), cache->accelerated, digest);
    names->cache = cache;
    sha256_write_digits(digest, names->digits);
    names->sizes = NULL;
    names->is_done = false;
    if (pixels == 0) return;
    /* Sizes of fewer pixels are before this one. */
    names->size = (struct size){.pixels = pixels - 1, .scale = SCALE_MOST};
    write_text(write_text(buffer, cache->prefix, cache->size), by_size, sizeof by_size - 1);
    names->sizes = opendir(buffer);
}

/* Finds the size after the last one in by-size/; other names are ignored. */
static bool find_size(struct names *names) {
    struct size size, next = {0};
    const struct dirent *entry;
    rewinddir(names->sizes);
    while ((entry = readdir(names->sizes)) != NULL) {
        bool is_next = size_read(entry->d_name, &size) && size_compare(size, names->size) > 0
            && (next.pixels == 0 || size_compare(size, next) < 0);
        if (is_next) next = size;
    }
    if (next.pixels != 0) names->size = next;
    return next.pixels != 0;
}

bool names_next(struct names *names, char *path) {
    path = write_text(path, names->cache->prefix, names->cache->size);
    if (names->sizes != NULL && find_size(names)) {
        char size[SIZE_LENGTH + 1];
        size_write(names->size, size);
        path = write_text(path, by_size, sizeof by_size - 1);
        *path++ = '/';
        write_name(names, write_text(path, size, strlen(size)));
        return true;
    }
    names_end(names);
    if (names->is_done) return false;
    names->is_done = true;
    write_name(names, write_text(path, by_url, sizeof by_url - 1));
    return true;
}

void names_end(struct names *names) {
    if (names->sizes != NULL) closedir(names->sizes);
    names->sizes = NULL;
}
