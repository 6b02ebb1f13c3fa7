/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cache.h"
#include "report.h"
#include "sha256.h"

static const char not_json[] = "it is not JSON of this format";

/* What is known while a manifest is read. */
struct reading {
    struct manifest *manifest;
    size_t capacity; /* of the lists */
    char *free;      /* the rest of the texts */
    const char *reason;
    bool is_without_memory;
};

static bool fail(struct reading *reading, const char *reason) {
    if (reading->reason == NULL) reading->reason = reason;
    return false;
}

static bool read_count(json *parser, uint64_t *count) {
    int64_t number;
    if (!json_read_integer(parser, &number) || number < 0) return false;
    *count = (uint64_t)number;
    return true;
}

enum { DOCUMENT, SHA256, APPS, READY, PENDING, FAILED, PRIVATE, KEYS };

static unsigned list_key(const json_text *key) {
    static const char names[KEYS][9] = {"document", "sha256", "apps", "ready", "pending", "failed", "private"};
    unsigned i = 0;
    while (i < KEYS && !json_text_is(key, names[i], strlen(names[i]))) i++;
    return i;
}

/* Whether a path is the one of a document with this digest. */
static bool is_document(const json_text *path, const char *digits) {
    char text[DOCUMENT_LENGTH + 1];
    return json_decode_into(path, text, sizeof text) && strlen(text) == DOCUMENT_LENGTH
        && memcmp(text, "lists/", 6) == 0 && memcmp(text + 6, digits, SHA256_DIGITS) == 0
        && strcmp(text + 6 + SHA256_DIGITS, ".json") == 0;
}

static bool read_list(struct reading *reading, json *parser, iconcache_list *list) {
    json_text key, document = {0}, sha256 = {0};
    uint32_t seen = 0;
    bool is_private;
    int result;
    if (!json_enter_object(parser)) return false;
    while ((result = json_next_member(parser, &key)) > 0) {
        unsigned index = list_key(&key);
        bool is_skipped = index == KEYS || is_repeated(&seen, index);
        bool is_read = false;
        switch (is_skipped ? (unsigned)KEYS : index) {
        case DOCUMENT: is_read = json_read_text(parser, &document); break;
        case SHA256: is_read = json_read_text(parser, &sha256); break;
        case APPS: is_read = read_count(parser, &list->apps); break;
        case READY: is_read = read_count(parser, &list->ready); break;
        case PENDING: is_read = read_count(parser, &list->pending); break;
        case FAILED: is_read = read_count(parser, &list->failed); break;
        case PRIVATE: is_read = json_take_null(parser) || json_read_bool(parser, &is_private); break;
        default: is_read = json_skip(parser);
        }
        if (!is_read) return false;
    }
    const uint32_t needed = 1U << SHA256 | 1U << APPS | 1U << READY | 1U << PENDING | 1U << FAILED;
    if (result < 0 || (seen & needed) != needed) return false;
    char *digits = reading->free;
    if (!read_digits(&sha256, digits)) return fail(reading, "a “sha256” is not a SHA-256 digest");
    if (document.start != NULL && !is_document(&document, digits)) {
        return fail(reading, "a “document” is not the path of one with its digest");
    }
    reading->free += SHA256_DIGITS + 1;
    list->sha256 = digits;
    return true;
}

/* Makes room for one list more. */
static iconcache_list *add_list(struct reading *reading) {
    struct manifest *manifest = reading->manifest;
    if (manifest->count == reading->capacity) {
        size_t capacity = reading->capacity == 0 ? 16 : 2 * reading->capacity;
        iconcache_list *lists = reallocarray(manifest->lists, capacity, sizeof *lists);
        if (lists == NULL) {
            reading->is_without_memory = true;
            return NULL;
        }
        manifest->lists = lists;
        reading->capacity = capacity;
    }
    iconcache_list *list = &manifest->lists[manifest->count++];
    memset(list, 0, sizeof *list);
    return list;
}

static bool read_lists(struct reading *reading, json *parser) {
    json_text name;
    int result;
    if (!json_enter_object(parser)) return false;
    while ((result = json_next_member(parser, &name)) > 0) {
        iconcache_list *list = add_list(reading);
        if (list == NULL) return false;
        list->name = reading->free;
        reading->free += json_decode(&name, reading->free) + 1;
        if (!read_list(reading, parser, list)) return false;
    }
    return result == 0;
}

static bool read_root(struct reading *reading, json *parser) {
    enum { FORMAT, GENERATION, PUBLISHED, LISTS };
    json_text key, published = {0};
    int64_t format = 0;
    uint32_t seen = 0;
    int result;
    if (!json_enter_object(parser)) return false;
    while ((result = json_next_member(parser, &key)) > 0) {
        bool is_read;
        if (json_text_is(&key, "format", 6) && !is_repeated(&seen, FORMAT)) {
            is_read = json_read_integer(parser, &format);
        } else if (json_text_is(&key, "generation", 10) && !is_repeated(&seen, GENERATION)) {
            is_read = json_read_integer(parser, &reading->manifest->generation);
        } else if (json_text_is(&key, "published", 9) && !is_repeated(&seen, PUBLISHED)) {
            is_read = json_read_text(parser, &published);
        } else if (json_text_is(&key, "lists", 5) && !is_repeated(&seen, LISTS)) {
            is_read = read_lists(reading, parser);
        } else {
            is_read = json_skip(parser);
        }
        if (!is_read) return false;
    }
    if (result < 0 || !json_at_end(parser) || seen != 15 || format != 1) return false;
    int64_t generation = reading->manifest->generation;
    if (generation < 0 || generation > INT64_C(1) << 53) return fail(reading, "“generation” is out of range");
    return is_time(&published) || fail(reading, "“published” is not an RFC 3339 time in UTC");
}

/* By name; lists of the same name in the order of the manifest. */
static int compare(const void *a, const void *b) {
    const iconcache_list *one = a, *other = b;
    int order = strcmp(one->name, other->name);
    return order != 0 ? order : (one->name > other->name) - (one->name < other->name);
}

/* The first one of several values of a key counts. */
static void sort_lists(struct manifest *manifest) {
    if (manifest->count < 2) return;
    qsort(manifest->lists, manifest->count, sizeof *manifest->lists, compare);
    size_t kept = 1;
    for (size_t i = 1; i < manifest->count; i++) {
        if (strcmp(manifest->lists[i].name, manifest->lists[kept - 1].name) == 0) continue;
        manifest->lists[kept++] = manifest->lists[i];
    }
    manifest->count = kept;
}

int manifest_read(struct manifest *result, const char *path, const void *bytes, size_t size, iconcache_error *error) {
    memset(result, 0, sizeof *result);
    /* Each text is shorter than its JSON, by the quotes. */
    result->texts = malloc(size + 1);
    if (result->texts == NULL) return report_no_memory(error);
    struct reading reading = {.manifest = result, .free = result->texts};
    json parser;
    json_begin(&parser, bytes, size);
    if (read_root(&reading, &parser)) {
        sort_lists(result);
        return ICONCACHE_OK;
    }
    manifest_free(result);
    if (reading.is_without_memory) return report_no_memory(error);
    return report_document(error, path, bytes, size, reading.reason != NULL ? reading.reason : not_json);
}

void manifest_free(struct manifest *manifest) {
    free(manifest->lists);
    free(manifest->texts);
    memset(manifest, 0, sizeof *manifest);
}

const iconcache_list *manifest_find(const struct manifest *manifest, const char *name) {
    size_t low = 0, high = manifest->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(name, manifest->lists[middle].name);
        if (order == 0) return &manifest->lists[middle];
        if (order < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return NULL;
}
