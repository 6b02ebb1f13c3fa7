/* SPDX-License-Identifier: Apache-2.0 */
#include "rendition.h"

#include <limits.h>
#include <string.h>

#include "cache.h"
#include "sha256.h"

/* The keys of a rendition, in the order in which the agent writes them. */
enum { PATH, SHA256, BYTES, WIDTH, HEIGHT, KEYS };

static const json_key keys[KEYS] = {
    {"\"path\":", 4}, {"\"sha256\":", 6}, {"\"bytes\":", 5}, {"\"width\":", 5}, {"\"height\":", 6}};

static bool read_value(json *parser, struct rendition *rendition, unsigned index) {
    switch (index) {
    case PATH: return json_read_text(parser, &rendition->path);
    case SHA256: return json_read_text(parser, &rendition->sha256);
    case BYTES: return json_read_integer(parser, &rendition->bytes);
    case WIDTH: return json_read_integer(parser, &rendition->width);
    case HEIGHT: return json_read_integer(parser, &rendition->height);
    default: return json_skip(parser);
    }
}

static bool read_members(json *parser, struct rendition *rendition) {
    uint32_t seen = 0;
    /* Before the first key. */
    unsigned index = UINT_MAX;
    int result;
    if (!json_enter_object(parser)) return false;
    while ((result = json_next_key(parser, keys, KEYS, &index)) > 0) {
        bool is_skipped = index < KEYS && is_repeated(&seen, index);
        if (!read_value(parser, rendition, is_skipped ? (unsigned)KEYS : index)) return false;
    }
    return result == 0 && seen == (1U << KEYS) - 1;
}

/* What is wrong with the members of a rendition; NULL if nothing is. */
static const char *fault(const struct rendition *rendition) {
    char digits[SHA256_DIGITS + 1];
    if (!read_digits(&rendition->sha256, digits)) return "the “sha256” of a rendition is not a SHA-256 digest";
    if (!is_image_path(&rendition->path, digits)) {
        return "the “path” of a rendition is not one of an image with its digest";
    }
    bool is_negative = rendition->bytes < 0 || rendition->width < 0 || rendition->height < 0;
    return is_negative ? "a number of a rendition is negative" : NULL;
}

static bool read_size(const json_text *text, struct size *size) {
    char buffer[SIZE_LENGTH + 1];
    return json_decode_into(text, buffer, sizeof buffer) && size_read(buffer, size);
}

bool renditions_begin(struct renditions *renditions, const json *parser) {
    renditions->parser = *parser;
    memset(renditions->seen, 0, sizeof renditions->seen);
    return json_enter_object(&renditions->parser);
}

int renditions_next(struct renditions *renditions, struct rendition *rendition, const char **reason) {
    json *parser = &renditions->parser;
    json_text key;
    int result;
    while ((result = json_next_member(parser, &key)) > 0) {
        memset(rendition, 0, sizeof *rendition);
        if (!read_size(&key, &rendition->size)) {
            *reason = "a key of “renditions” is not a size";
            return -1;
        }
        uint32_t index = size_index(rendition->size);
        unsigned char *byte = &renditions->seen[index / 8], bit = (unsigned char)(1U << index % 8);
        if (*byte & bit) {
            if (!json_skip(parser)) return -1;
            continue;
        }
        *byte |= bit;
        if (!read_members(parser, rendition)) return -1;
        const char *found = fault(rendition);
        if (found != NULL) *reason = found;
        return found == NULL ? 1 : -1;
    }
    return result;
}

bool renditions_count(json *parser, size_t *count, const char **reason) {
    struct renditions renditions;
    struct rendition rendition;
    *count = 0;
    if (!renditions_begin(&renditions, parser)) return false;
    int result;
    while ((result = renditions_next(&renditions, &rendition, reason)) > 0) ++*count;
    *parser = renditions.parser;
    return result == 0;
}
