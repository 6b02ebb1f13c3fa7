/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pull parser for JSON (RFC 8259) in memory: it allocates nothing, and does not call itself.
 *
 * Every function returns false, or a number below 0, at the first byte that is not JSON; then only json_begin() makes
 * sense.
 */
#ifndef ICONCACHE_JSON_H
#define ICONCACHE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most objects and arrays inside each other, as in Foundation's JSONDecoder. */
enum { JSON_DEPTH = 512 };

typedef struct json {
    const unsigned char *next, *end;
    unsigned depth;
    bool fresh; /* whether an object or array was just entered */
} json;

/* A string in the text, without its quotes: UTF-8, with escapes that json_decode() resolves. */
typedef struct json_text {
    const unsigned char *start; /* NULL: none */
    size_t size;
    bool escaped;
} json_text;

/* A key as it is in the text, with quotes and a colon, and its size without them. */
typedef struct json_key {
    char text[17];
    unsigned char size;
} json_key;

/* The text has to outlive the parser. */
void json_begin(json *parser, const void *bytes, size_t size);
/* Whether nothing but white space is left. */
bool json_at_end(json *parser);

/* Enters the next value. Read all of its members or elements to leave it. */
bool json_enter_object(json *parser);
bool json_enter_array(json *parser);
/* Moves to the next value of the object or array: 1, or 0 if there is none, which leaves it. */
int json_next_member(json *parser, json_text *key);
int json_next_element(json *parser);
/*
 * The same as json_next_member() for keys that are known. `index` is that of the key before, UINT_MAX at first, and
 * becomes that of this one, `count` for any other key. It is faster if they are in this order, with few left out.
 */
int json_next_key(json *parser, const json_key *keys, unsigned count, unsigned *index);

/* Whether the next value is null; skips it then. */
bool json_take_null(json *parser);
bool json_read_text(json *parser, json_text *text);
bool json_read_bool(json *parser, bool *value);
/* Reads a number without fraction: also 1.0 and 1e2. */
bool json_read_integer(json *parser, int64_t *number);
/* Skips a value of any kind. */
bool json_skip(json *parser);

/* Writes a text, and a zero byte after it: `size` + 1 bytes at most. U+0000 becomes U+FFFD. Returns its length. */
size_t json_decode(const json_text *text, char *target);
/* The same into a buffer; false if that is too small. */
bool json_decode_into(const json_text *text, char *buffer, size_t capacity);
bool json_text_is(const json_text *text, const char *other, size_t size);

#endif
