/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the library share. */
#ifndef ICONCACHE_CACHE_H
#define ICONCACHE_CACHE_H

#include "iconcache.h"
#include "json.h"

struct iconcache {
    bool accelerated; /* see sha256_can_accelerate() */
    size_t size;      /* of the prefix */
    char *folder;
    char *prefix;   /* the folder, or an empty text for the root: a slash and a relative path follow it */
    char *manifest; /* the path of manifest.json */
};

/* One generation: its number, and its lists, sorted by name. */
struct manifest {
    int64_t generation;
    size_t count;
    iconcache_list *lists;
    char *texts; /* those of the lists */
};

struct iconcache_snapshot {
    const iconcache *cache;
    int file; /* that of the manifest, open and usually locked; -1: the lease has ended */
    bool is_leased;
    struct manifest manifest;
};

/* MARK: Texts that documents have in common */

enum { TIME_LENGTH = 20, DOCUMENT_LENGTH = 6 + 64 + 5 };

/* Whether a text is a time in UTC as in RFC 3339, in whole seconds. */
bool is_time(const json_text *text);
/* Reads 64 hexadecimal digits; false if the text is something else. */
bool read_digits(const json_text *text, char digits[65]);
/* Whether a path is that of an image with this digest. */
bool is_image_path(const json_text *path, const char *digits);
/* Whether an object has another value of this key before. Adds the key's bit to `seen`. The first value counts. */
bool is_repeated(uint32_t *seen, unsigned bit);

/*
 * The format of a document that cannot be read otherwise: ICONCACHE_UNKNOWN_FORMAT if it is JSON of another one, or
 * ICONCACHE_DAMAGED.
 */
int examine_format(const void *bytes, size_t size, int64_t *format);

/* Reports why a document cannot be read, given the reason if it has the format of this version. */
int report_document(
    iconcache_error *error, const char *path, const void *bytes, size_t size, const char *reason);

/* MARK: Manifests */

/* Reads a manifest; `path` is for messages. */
int manifest_read(
    struct manifest *result, const char *path, const void *bytes, size_t size, iconcache_error *error);
void manifest_free(struct manifest *manifest);
/* NULL if there is no list of this name. */
const iconcache_list *manifest_find(const struct manifest *manifest, const char *name);

/* The error of a file that leads to a generation. It says whether there is a cache at all if there is no such file. */
int report_manifest(const iconcache *cache, int system_error, iconcache_error *error);

/* MARK: What changes need of snapshots and entries */

/* Releases the lease; what was read stays. */
void snapshot_end_lease(iconcache_snapshot *snapshot);

/* The place of the next entry: a call of iconcache_apps_next() goes on from there. */
json apps_place(const iconcache_apps *apps);
void apps_return(iconcache_apps *apps, json place);

#endif
