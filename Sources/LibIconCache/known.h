/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a watch knows of a cache, with which the next generation is compared.
 *
 * The image of an icon is that of the entry that counts among all lists: see iconcache_apps_of_url().
 */
#ifndef ICONCACHE_KNOWN_H
#define ICONCACHE_KNOWN_H

#include "cache.h"
#include "icons.h"

/* What a list says of an icon: the first entry of its URL that has the best image in that list. */
struct claim {
    struct icon *icon;
    struct list *list;
    struct claim *next; /* of the same icon, by another list */
    unsigned char image[SHA256_SIZE];
    int rank; /* that of entry_rank() */
};

/* A version of a list. */
struct list {
    char *name;
    char sha256[SHA256_DIGITS + 1];
    struct claim *claims; /* one for each icon with an image, in the order of the first such entries */
    size_t count, capacity;
    bool is_new, is_gone; /* in the batch */
    /* While the batch needs the document: its entries, and where the claims are in it. */
    iconcache_apps *apps;
    json *places;
};

struct lists {
    struct list **all; /* sorted by name */
    size_t count;
};

struct icon_change {
    iconcache_change_kind kind;
    struct icon *icon;
    const struct claim *claim; /* the one with the image; NULL if the icon is gone */
};

/* The changes of one publication. */
struct batch {
    struct list **gone;    /* the lists that were removed, by name, then the old versions of changed ones, by name */
    size_t removed, count; /* how many were removed, and how many there are in all */
    struct icon_change *changes;
    size_t changes_count, capacity;
};

struct known {
    struct lists lists;
    struct icons icons;
    uint64_t marks; /* the last mark of icons */
};

struct list *lists_find(const struct lists *lists, const char *name);

/* Advances to a generation, and makes the batch of changes that lead to it. If it fails, what is known stays. */
int known_advance(
    struct known *known, const iconcache_snapshot *snapshot, struct batch *batch, iconcache_error *error);
/* Frees a batch, and what only its changes need. */
void known_end_batch(struct known *known, struct batch *batch);
void known_free(struct known *known);

#endif
