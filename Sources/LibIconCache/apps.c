/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "absence.h"
#include "cache.h"
#include "document.h"
#include "file.h"
#include "rendition.h"
#include "report.h"
#include "sha256.h"

/* A rendition of the entry that was returned last. */
struct rendition_record {
    struct size size;
    iconcache_rendition rendition;
    iconcache_image image;
};

struct iconcache_apps {
    const iconcache *cache;
    unsigned char *bytes;
    json first, next; /* the places of the first and of the next entry */
    char *texts;      /* those of the entry that was returned last */
    char *free;       /* the rest of them */
    iconcache_app app;
    iconcache_image image;
    struct rendition_record *records;     /* room for those of any entry; NULL if no entry has one */
    const iconcache_rendition **renditions; /* those of the records, in the same order */
};

/* MARK: Entries, one after the other */

/* Writes a text to the buffer; NULL if there is none. */
static const char *write_text(iconcache_apps *apps, const json_text *text) {
    if (text->start == NULL) return NULL;
    const char *written = apps->free;
    apps->free += json_decode(text, apps->free) + 1;
    return written;
}

static const char *write_path(iconcache_apps *apps, const json_text *path) {
    const char *written = apps->free;
    memcpy(apps->free, apps->cache->prefix, apps->cache->size);
    apps->free += apps->cache->size;
    *apps->free++ = '/';
    write_text(apps, path);
    return written;
}

static uint32_t side(int64_t pixels) { return pixels < UINT32_MAX ? (uint32_t)pixels : UINT32_MAX; }

static int compare_records(const void *one, const void *other) {
    return size_compare(((const struct rendition_record *)one)->size, ((const struct rendition_record *)other)->size);
}

static void write_rendition(iconcache_apps *apps, const struct rendition *rendition, struct rendition_record *record) {
    record->size = rendition->size;
    record->image = (iconcache_image){
        .type = "image/png", .bytes = (uint64_t)rendition->bytes, .width = side(rendition->width),
        .height = side(rendition->height)};
    record->image.path = write_path(apps, &rendition->path);
    record->image.sha256 = write_text(apps, &rendition->sha256);
    record->rendition.size = apps->free;
    record->rendition.pixels = rendition->size.pixels;
    size_write(rendition->size, apps->free);
    apps->free += strlen(apps->free) + 1;
}

/* Writes the renditions of an entry, sorted by size. */
static void write_renditions(iconcache_apps *apps, const struct entry *entry) {
    struct renditions renditions;
    struct rendition rendition;
    const char *reason;
    size_t count = 0;
    bool is_sorted = true;
    if (entry->renditions_count == 0 || !renditions_begin(&renditions, &entry->renditions)) return;
    while (renditions_next(&renditions, &rendition, &reason) > 0) {
        write_rendition(apps, &rendition, &apps->records[count]);
        is_sorted = is_sorted && (count == 0 || compare_records(&apps->records[count - 1], &apps->records[count]) < 0);
        count++;
    }
    if (!is_sorted) qsort(apps->records, count, sizeof *apps->records, compare_records);
    for (size_t i = 0; i < count; i++) {
        apps->records[i].rendition.image = &apps->records[i].image;
        apps->renditions[i] = &apps->records[i].rendition;
    }
    apps->app.renditions_count = count;
    apps->app.renditions = apps->renditions;
}

static const iconcache_app *write_app(iconcache_apps *apps, const struct entry *entry) {
    apps->free = apps->texts;
    iconcache_app *app = &apps->app;
    memset(app, 0, sizeof *app);
    app->name = write_text(apps, &entry->name);
    app->id = write_text(apps, &entry->id);
    app->icon = write_text(apps, &entry->icon);
    app->download = write_text(apps, &entry->download);
    char digits[SHA256_DIGITS + 1];
    if (entry->expected.start != NULL && read_digits(&entry->expected, digits)) {
        app->expected = write_text(apps, &entry->expected);
    }
    app->status = entry->state;
    bool has_previous = entry->state == ICONCACHE_READY && entry->previous.start != NULL;
    if (has_previous) {
        app->previous = write_text(apps, &entry->previous);
        bool is_known = entry->previous_since.start != NULL && is_time(&entry->previous_since);
        if (is_known) app->previous_since = write_text(apps, &entry->previous_since);
    }
    if (has_previous || entry->state == ICONCACHE_FAILED) app->error = write_text(apps, &entry->error);
    if (entry->state != ICONCACHE_READY) return app;

    iconcache_image *image = &apps->image;
    image->path = write_path(apps, &entry->path);
    image->sha256 = write_text(apps, &entry->sha256);
    image->type = write_text(apps, &entry->type);
    image->bytes = (uint64_t)entry->bytes;
    image->width = side(entry->width);
    image->height = side(entry->height);
    app->image = image;
    write_renditions(apps, entry);
    return app;
}

/* Reads the next entry; false after the last one. */
static bool read_next(iconcache_apps *apps, struct entry *entry) {
    json parser = apps->next;
    /* The place stays before the end, where further calls find it again. */
    if (json_next_element(&parser) <= 0) return false;
    entry_read_checked(&parser, entry);
    apps->next = parser;
    return true;
}

const iconcache_app *iconcache_apps_next(iconcache_apps *apps) {
    struct entry entry;
    return apps != NULL && read_next(apps, &entry) ? write_app(apps, &entry) : NULL;
}

void iconcache_apps_rewind(iconcache_apps *apps) {
    if (apps != NULL) apps->next = apps->first;
}

const iconcache_app *iconcache_apps_find(iconcache_apps *apps, const char *name) {
    iconcache_apps_rewind(apps);
    if (apps == NULL || name == NULL) return NULL;
    size_t size = strlen(name);
    struct entry entry;
    while (read_next(apps, &entry)) {
        if (entry.name.start != NULL && json_text_is(&entry.name, name, size)) return write_app(apps, &entry);
    }
    return NULL;
}

const iconcache_image *iconcache_app_image_for_pixels(const iconcache_app *app, uint32_t pixels) {
    if (app == NULL) return NULL;
    for (size_t i = 0; pixels > 0 && i < app->renditions_count; i++) {
        if (app->renditions[i]->pixels >= pixels) return app->renditions[i]->image;
    }
    return app->image;
}

json apps_place(const iconcache_apps *apps) { return apps->next; }

void apps_return(iconcache_apps *apps, json place) { apps->next = place; }

void iconcache_apps_free(iconcache_apps *apps) {
    if (apps == NULL) return;
    free(apps->bytes);
    free(apps->texts);
    free(apps->records);
    free(apps->renditions);
    free(apps);
}

/* MARK: Documents */

/* Takes over the bytes. An entry has at most so many bytes of text, and so many renditions. */
static iconcache_apps *make_apps(
    const iconcache *cache, unsigned char *bytes, json first, size_t largest, size_t most_renditions) {
    iconcache_apps *apps = calloc(1, sizeof *apps);
    if (apps == NULL) {
        free(bytes);
        return NULL;
    }
    apps->cache = cache;
    apps->bytes = bytes;
    apps->first = apps->next = first;
    /* Each text is shorter than its JSON, by the quotes; the paths of images get longer. */
    apps->texts = malloc(largest + (1 + most_renditions) * (cache->size + 2));
    if (most_renditions > 0) {
        apps->records = calloc(most_renditions, sizeof *apps->records);
        apps->renditions = calloc(most_renditions, sizeof *apps->renditions);
    }
    bool is_complete = apps->texts != NULL
        && (most_renditions == 0 || (apps->records != NULL && apps->renditions != NULL));
    if (is_complete) return apps;
    iconcache_apps_free(apps);
    return NULL;
}

static int check_document(
    const iconcache *cache, const iconcache_list *list, const char *path, const unsigned char *bytes, size_t size,
    struct document *document, iconcache_error *error) {
    unsigned char digest[SHA256_SIZE];
    sha256(bytes, size, cache->accelerated, digest);
    if (!sha256_is(digest, list->sha256)) {
        return report_damaged(error, path, "its digest differs from the one in the manifest");
    }
    const char *reason;
    if (!document_read(document, bytes, size, &reason)) return report_document(error, path, bytes, size, reason);
    if (!json_text_is(&document->list, list->name, strlen(list->name))) {
        return report_damaged(error, path, "it belongs to another list");
    }
    return ICONCACHE_OK;
}

static int read_list(
    const iconcache *cache, const iconcache_list *list, iconcache_apps **apps, iconcache_error *error) {
    size_t length = cache->size + 1 + DOCUMENT_LENGTH + 1;
    char *path = malloc(length);
    if (path == NULL) return report_no_memory(error);
    snprintf(path, length, "%s/lists/%s.json", cache->prefix, list->sha256);
    unsigned char *bytes;
    size_t size;
    int failure = file_read_path(path, &bytes, &size);
    if (failure != 0) {
        int code = report_unreadable(error, path, failure);
        free(path);
        return code;
    }
    struct document document;
    int code = check_document(cache, list, path, bytes, size, &document, error);
    free(path);
    if (code != ICONCACHE_OK) {
        free(bytes);
        return code;
    }
    *apps = make_apps(cache, bytes, document.apps, document.largest, document.most_renditions);
    return *apps == NULL ? report_no_memory(error) : ICONCACHE_OK;
}

int iconcache_apps_new(
    const iconcache_snapshot *snapshot, const char *list, iconcache_apps **apps, iconcache_error *error) {
    if (apps != NULL) *apps = NULL;
    if (snapshot == NULL || list == NULL || apps == NULL) {
        return report_null(error, snapshot == NULL ? "snapshot" : list == NULL ? "list" : "apps");
    }
    const iconcache_list *entry = manifest_find(&snapshot->manifest, list);
    if (entry == NULL) return report_unknown_list(snapshot, list, error);
    return read_list(snapshot->cache, entry, apps, error);
}

/* MARK: Entries of a URL or a name, in all lists */

/* Texts of entries, each after a comma. */
struct texts {
    unsigned char *bytes;
    size_t size, capacity;
};

struct search {
    const char *url, *name; /* one of them is NULL */
    size_t length;          /* that of the other one */
    struct texts ranks[3];  /* what was found, by entry_rank() - 1 */
    int best;               /* the highest rank of them; 0: there is none */
    size_t largest, most_renditions;
};

static void end_search(struct search *search) {
    for (int i = 0; i < 3; i++) free(search->ranks[i].bytes);
}

/* Adds an entry that is between two places; false without memory. */
static bool add(struct texts *texts, const unsigned char *start, size_t size) {
    size_t needed = texts->size + 1 + size;
    if (needed > texts->capacity) {
        size_t capacity = needed > 2 * texts->capacity ? needed : 2 * texts->capacity;
        unsigned char *bytes = realloc(texts->bytes, capacity);
        if (bytes == NULL) return false;
        texts->bytes = bytes;
        texts->capacity = capacity;
    }
    texts->bytes[texts->size] = ',';
    memcpy(texts->bytes + texts->size + 1, start, size);
    texts->size = needed;
    return true;
}

/* Whether an entry is looked for: any one of the name, but only the best one of the URL. */
static bool is_wanted(const struct search *search, const struct entry *entry) {
    if (search->url == NULL) {
        return entry->name.start != NULL && json_text_is(&entry->name, search->name, search->length);
    }
    return json_text_is(&entry->icon, search->url, search->length) && entry_rank(entry) > search->best;
}

/* Whether no other entry can be wanted. */
static bool is_over(const struct search *search) { return search->url != NULL && search->best == 3; }

static bool keep(struct search *search, const struct entry *entry, const unsigned char *start, size_t size) {
    int rank = entry_rank(entry);
    if (search->url != NULL && search->best > 0) search->ranks[search->best - 1].size = 0;
    if (rank > search->best) search->best = rank;
    if (size > search->largest) search->largest = size;
    if (entry->renditions_count > search->most_renditions) search->most_renditions = entry->renditions_count;
    return add(&search->ranks[rank - 1], start, size);
}

/* Looks for entries in a list; false without memory. */
static bool search_list(iconcache_apps *apps, struct search *search) {
    struct entry entry;
    while (!is_over(search)) {
        json parser = apps->next;
        if (json_next_element(&parser) <= 0) break;
        const unsigned char *start = parser.next;
        entry_read_checked(&parser, &entry);
        apps->next = parser;
        bool is_found = is_wanted(search, &entry);
        if (is_found && !keep(search, &entry, start, (size_t)(parser.next - start))) return false;
    }
    return true;
}

static int search_lists(const iconcache_snapshot *snapshot, struct search *search, iconcache_error *error) {
    for (size_t i = 0; i < snapshot->manifest.count && !is_over(search); i++) {
        iconcache_apps *apps;
        int code = read_list(snapshot->cache, &snapshot->manifest.lists[i], &apps, error);
        if (code != ICONCACHE_OK) return code;
        bool is_searched = search_list(apps, search);
        iconcache_apps_free(apps);
        if (!is_searched) return report_no_memory(error);
    }
    if (search->best > 0) return ICONCACHE_OK;
    return search->url != NULL ? report_unknown_url(snapshot->cache, search->url, error)
        : report_unknown_name(snapshot->cache, search->name, error);
}

/* The entries that were found, as an array of JSON, the highest rank first; NULL without memory. */
static unsigned char *joined(const struct search *search, size_t *size) {
    size_t total = 1;
    for (int i = 0; i < 3; i++) total += search->ranks[i].size;
    unsigned char *bytes = malloc(total), *end = bytes;
    if (bytes == NULL) return NULL;
    for (int i = 2; i >= 0; i--) {
        const struct texts *texts = &search->ranks[i];
        if (texts->size == 0) continue;
        memcpy(end, texts->bytes, texts->size);
        end += texts->size;
    }
    bytes[0] = '[';
    *end = ']';
    *size = total;
    return bytes;
}

static int find_apps(
    const iconcache_snapshot *snapshot, struct search *search, iconcache_apps **apps, iconcache_error *error) {
    int code = search_lists(snapshot, search, error);
    size_t size;
    unsigned char *bytes = code == ICONCACHE_OK ? joined(search, &size) : NULL;
    end_search(search);
    if (code != ICONCACHE_OK) return code;
    if (bytes == NULL) return report_no_memory(error);
    json first;
    json_begin(&first, bytes, size);
    json_enter_array(&first);
    *apps = make_apps(snapshot->cache, bytes, first, search->largest, search->most_renditions);
    return *apps == NULL ? report_no_memory(error) : ICONCACHE_OK;
}

int iconcache_apps_of_url(
    const iconcache_snapshot *snapshot, const char *url, iconcache_apps **apps, iconcache_error *error) {
    if (apps != NULL) *apps = NULL;
    if (snapshot == NULL || url == NULL || apps == NULL) {
        return report_null(error, snapshot == NULL ? "snapshot" : url == NULL ? "url" : "apps");
    }
    struct search search = {.url = url, .length = strlen(url)};
    return find_apps(snapshot, &search, apps, error);
}

int iconcache_apps_of_name(
    const iconcache_snapshot *snapshot, const char *name, iconcache_apps **apps, iconcache_error *error) {
    if (apps != NULL) *apps = NULL;
    if (snapshot == NULL || name == NULL || apps == NULL) {
        return report_null(error, snapshot == NULL ? "snapshot" : name == NULL ? "name" : "apps");
    }
    struct search search = {.name = name, .length = strlen(name)};
    return find_apps(snapshot, &search, apps, error);
}
