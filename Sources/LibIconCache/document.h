/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the text of list documents. */
#ifndef ICONCACHE_DOCUMENT_H
#define ICONCACHE_DOCUMENT_H

#include "iconcache.h"
#include "json.h"

/* An entry, as it is in the text. Texts have a `start` of NULL if there is none. */
struct entry {
    json_text name, id, icon, download, expected, status, error, previous, previous_since, path, sha256, type;
    int64_t bytes, width, height;
    uint32_t numbers; /* a bit for each number that is there */
    iconcache_status state;
    json renditions;  /* the place of their object; its `next` is NULL if there is none */
    size_t renditions_count;
    const char *renditions_fault; /* what is wrong with them, which matters in a ready entry; otherwise NULL */
};

enum { NUMBER_BYTES = 1, NUMBER_WIDTH = 2, NUMBER_HEIGHT = 4 };

/* What a document is made of. */
struct document {
    json apps;      /* the place of the first entry */
    json_text list; /* the name of the list */
    size_t largest; /* the size of the largest entry, in bytes of the text */
    size_t most_renditions; /* the largest number of renditions of an entry */
};

/*
 * Reads an entry, and checks it completely. Returns whether it is one; if it is JSON of this format otherwise, `reason`
 * says what is wrong.
 */
bool entry_read(json *parser, struct entry *entry, const char **reason);
/* Reads an entry that was checked before. */
void entry_read_checked(json *parser, struct entry *entry);
/* Whether the icon of an entry has its own image (3), a previous one (2), or none (1). */
int entry_rank(const struct entry *entry);

/* Reads a document to its end, and checks it completely. */
bool document_read(struct document *document, const void *bytes, size_t size, const char **reason);

#endif
