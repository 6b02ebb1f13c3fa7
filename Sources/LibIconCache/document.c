/* SPDX-License-Identifier: Apache-2.0 */
#include "document.h"

#include <limits.h>
#include <string.h>

#include "cache.h"
#include "rendition.h"
#include "sha256.h"

/* MARK: Entries */

/* The keys of an entry, in the order in which the agent writes them. */
enum {
    NAME, ID, ICON, DOWNLOAD, EXPECTED, STATUS, PATH, SHA256, BYTES, TYPE, WIDTH, HEIGHT, PREVIOUS, PREVIOUS_SINCE,
    ERROR, RENDITIONS, KEYS
};

static const json_key keys[KEYS] = {
    {"\"name\":", 4}, {"\"id\":", 2}, {"\"icon\":", 4}, {"\"download\":", 8}, {"\"expected\":", 8},
    {"\"status\":", 6}, {"\"path\":", 4}, {"\"sha256\":", 6}, {"\"bytes\":", 5}, {"\"type\":", 4},
    {"\"width\":", 5}, {"\"height\":", 6}, {"\"previous\":", 8}, {"\"previousSince\":", 13}, {"\"error\":", 5},
    {"\"renditions\":", 10}};

static bool read_text_or_null(json *parser, json_text *text) {
    return json_take_null(parser) || json_read_text(parser, text);
}

static bool read_number_or_null(json *parser, int64_t *number, uint32_t *numbers, unsigned bit) {
    if (json_take_null(parser)) return true;
    *numbers |= bit;
    return json_read_integer(parser, number);
}

/* Reads renditions. Those that are none are skipped, until it is known whether the entry is ready. */
static bool read_renditions(json *parser, struct entry *entry) {
    if (json_take_null(parser)) return true;
    const char *reason = "the “renditions” of an entry are not of this format";
    entry->renditions = *parser;
    if (renditions_count(parser, &entry->renditions_count, &reason)) return true;
    entry->renditions_fault = reason;
    *parser = entry->renditions;
    return json_skip(parser);
}

static bool read_value(json *parser, struct entry *entry, unsigned index) {
    switch (index) {
    case NAME: return read_text_or_null(parser, &entry->name);
    case ID: return read_text_or_null(parser, &entry->id);
    case ICON: return json_read_text(parser, &entry->icon);
    case DOWNLOAD: return read_text_or_null(parser, &entry->download);
    case EXPECTED: return read_text_or_null(parser, &entry->expected);
    case STATUS: return json_read_text(parser, &entry->status);
    case PATH: return read_text_or_null(parser, &entry->path);
    case SHA256: return read_text_or_null(parser, &entry->sha256);
    case BYTES: return read_number_or_null(parser, &entry->bytes, &entry->numbers, NUMBER_BYTES);
    case TYPE: return read_text_or_null(parser, &entry->type);
    case WIDTH: return read_number_or_null(parser, &entry->width, &entry->numbers, NUMBER_WIDTH);
    case HEIGHT: return read_number_or_null(parser, &entry->height, &entry->numbers, NUMBER_HEIGHT);
    case PREVIOUS: return read_text_or_null(parser, &entry->previous);
    case PREVIOUS_SINCE: return read_text_or_null(parser, &entry->previous_since);
    case ERROR: return read_text_or_null(parser, &entry->error);
    case RENDITIONS: return read_renditions(parser, entry);
    default: return json_skip(parser);
    }
}

/* Reads the members of an entry. */
static bool read_members(json *parser, struct entry *entry) {
    memset(entry, 0, sizeof *entry);
    uint32_t seen = 0;
    /* Before the first key. */
    unsigned index = UINT_MAX;
    int result;
    if (!json_enter_object(parser)) return false;
    while ((result = json_next_key(parser, keys, KEYS, &index)) > 0) {
        bool is_skipped = index < KEYS && is_repeated(&seen, index);
        if (!read_value(parser, entry, is_skipped ? (unsigned)KEYS : index)) return false;
    }
    return result == 0 && entry->icon.start != NULL && entry->status.start != NULL;
}

static bool has_image(const struct entry *entry) {
    const uint32_t all = NUMBER_BYTES | NUMBER_WIDTH | NUMBER_HEIGHT;
    return entry->path.start != NULL && entry->sha256.start != NULL && entry->type.start != NULL
        && entry->numbers == all;
}

static bool set_state(struct entry *entry) {
    if (json_text_is(&entry->status, "ready", 5)) {
        entry->state = ICONCACHE_READY;
    } else if (json_text_is(&entry->status, "pending", 7)) {
        entry->state = ICONCACHE_PENDING;
    } else if (json_text_is(&entry->status, "failed", 6)) {
        entry->state = ICONCACHE_FAILED;
    } else {
        return false;
    }
    return true;
}

/* What is wrong with the members of an entry; NULL if nothing is. */
static const char *fault(struct entry *entry) {
    static const char lacking[] = "an entry lacks a key that its status requires";
    if (!set_state(entry)) return "an entry has an unknown status, which a newer version may have written";
    if (entry->state == ICONCACHE_FAILED && entry->error.start == NULL) return lacking;
    if (entry->state != ICONCACHE_READY) return NULL;
    char digits[SHA256_DIGITS + 1];
    if (!has_image(entry) || !read_digits(&entry->sha256, digits)) return lacking;
    if (!is_image_path(&entry->path, digits)) {
        return "the “path” of an entry is not one of an image with its digest";
    }
    bool is_negative = entry->bytes < 0 || entry->width < 0 || entry->height < 0;
    return is_negative ? "a number of an entry is negative" : entry->renditions_fault;
}

bool entry_read(json *parser, struct entry *entry, const char **reason) {
    if (!read_members(parser, entry)) return false;
    const char *found = fault(entry);
    if (found != NULL) *reason = found;
    return found == NULL;
}

void entry_read_checked(json *parser, struct entry *entry) {
    read_members(parser, entry);
    set_state(entry);
}

int entry_rank(const struct entry *entry) {
    if (entry->state != ICONCACHE_READY) return 1;
    return entry->previous.start == NULL ? 3 : 2;
}

/* MARK: Documents */

static bool read_apps(json *parser, struct document *document, const char **reason) {
    if (!json_enter_array(parser)) return false;
    document->apps = *parser;
    int result;
    while ((result = json_next_element(parser)) > 0) {
        struct entry entry;
        const unsigned char *start = parser->next;
        if (!entry_read(parser, &entry, reason)) return false;
        size_t size = (size_t)(parser->next - start);
        if (size > document->largest) document->largest = size;
        if (entry.renditions_count > document->most_renditions) document->most_renditions = entry.renditions_count;
    }
    return result == 0;
}

static bool read_source(json *parser, const char **reason) {
    enum { DIGEST, SIZE, MODIFIED };
    json_text key, sha256 = {0}, modified = {0};
    int64_t bytes = 0;
    char digits[SHA256_DIGITS + 1];
    uint32_t seen = 0;
    int result;
    if (!json_enter_object(parser)) return false;
    while ((result = json_next_member(parser, &key)) > 0) {
        bool is_read;
        if (json_text_is(&key, "sha256", 6) && !is_repeated(&seen, DIGEST)) {
            is_read = json_read_text(parser, &sha256);
        } else if (json_text_is(&key, "bytes", 5) && !is_repeated(&seen, SIZE)) {
            is_read = json_read_integer(parser, &bytes);
        } else if (json_text_is(&key, "modified", 8) && !is_repeated(&seen, MODIFIED)) {
            is_read = json_read_text(parser, &modified);
        } else {
            is_read = json_skip(parser);
        }
        if (!is_read) return false;
    }
    if (result < 0 || seen != 7) return false;
    if (bytes < 0) {
        *reason = "“bytes” of its “source” is negative";
        return false;
    }
    if (read_digits(&sha256, digits) && is_time(&modified)) return true;
    *reason = "its “source” has no valid “sha256” and “modified”";
    return false;
}

bool document_read(struct document *document, const void *bytes, size_t size, const char **reason) {
    enum { FORMAT, LIST, SOURCE, APPS };
    memset(document, 0, sizeof *document);
    *reason = "it is not JSON of this format";
    json parser;
    json_text key;
    int64_t format = 0;
    uint32_t seen = 0;
    int result;
    json_begin(&parser, bytes, size);
    if (!json_enter_object(&parser)) return false;
    while ((result = json_next_member(&parser, &key)) > 0) {
        bool is_read;
        if (json_text_is(&key, "format", 6) && !is_repeated(&seen, FORMAT)) {
            is_read = json_read_integer(&parser, &format);
        } else if (json_text_is(&key, "list", 4) && !is_repeated(&seen, LIST)) {
            is_read = json_read_text(&parser, &document->list);
        } else if (json_text_is(&key, "source", 6) && !is_repeated(&seen, SOURCE)) {
            is_read = read_source(&parser, reason);
        } else if (json_text_is(&key, "apps", 4) && !is_repeated(&seen, APPS)) {
            is_read = read_apps(&parser, document, reason);
        } else {
            is_read = json_skip(&parser);
        }
        if (!is_read) return false;
    }
    return result == 0 && json_at_end(&parser) && seen == 15 && format == 1;
}
