/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

void json_begin(json *parser, const void *bytes, size_t size) {
    static const unsigned char mark[3] = {0xEF, 0xBB, 0xBF};
    parser->next = bytes;
    parser->end = parser->next + size;
    parser->depth = 0;
    parser->fresh = false;
    if (size >= sizeof mark && memcmp(bytes, mark, sizeof mark) == 0) parser->next += sizeof mark;
}

static inline void skip_space(json *parser) {
    if (parser->next < parser->end && *parser->next > ' ') return;
    const unsigned char *p = parser->next;
    while (p < parser->end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')) p++;
    parser->next = p;
}

/* Skips white space, then this byte. */
static inline bool take(json *parser, unsigned char byte) {
    skip_space(parser);
    if (parser->next == parser->end || *parser->next != byte) return false;
    parser->next++;
    return true;
}

static bool take_word(json *parser, const char *word, size_t size) {
    skip_space(parser);
    if (parser->next == parser->end || *parser->next != (unsigned char)word[0]) return false;
    if ((size_t)(parser->end - parser->next) < size || memcmp(parser->next, word, size) != 0) return false;
    parser->next += size;
    return true;
}

bool json_at_end(json *parser) {
    skip_space(parser);
    return parser->next == parser->end;
}

/* MARK: Strings */

static bool is_plain(unsigned char byte) { return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\'; }

/* Skips ASCII characters that stand for themselves. */
#if defined(__SSE2__)

static const unsigned char *skip_plain(const unsigned char *p, const unsigned char *end) {
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\'), control = _mm_set1_epi8(0x1F);
    for (; end - p >= 16; p += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
        __m128i marks = _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash));
        __m128i controls = _mm_cmpeq_epi8(_mm_min_epu8(bytes, control), bytes);
        /* The high bits, which bytes that are not ASCII have themselves. */
        unsigned special = (unsigned)_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(marks, controls), bytes));
        if (special != 0) return p + __builtin_ctz(special);
    }
    while (p < end && is_plain(*p)) p++;
    return p;
}

#else

static const unsigned char *skip_plain(const unsigned char *p, const unsigned char *end) {
    const uint64_t ones = 0x0101010101010101U, high = 0x8080808080808080U;
    for (; end - p >= 8; p += 8) {
        uint64_t word;
        memcpy(&word, p, sizeof word);
        uint64_t quote = word ^ (ones * '"'), backslash = word ^ (ones * '\\');
        /* The high bit of a byte is set if that is a control character, a quote, a backslash, or not ASCII. */
        uint64_t special = (word - ones * 0x20) | (quote - ones) | (backslash - ones) | word;
        if (special & high) break;
    }
    while (p < end && is_plain(*p)) p++;
    return p;
}

#endif

/* The length of the UTF-8 sequence at `p`, which does not begin with ASCII; 0 if it is not valid. */
static size_t sequence(const unsigned char *p, const unsigned char *end) {
    size_t left = (size_t)(end - p), length;
    unsigned char low = 0x80, high = 0xBF;
    if (*p >= 0xC2 && *p <= 0xDF) {
        length = 2;
    } else if (*p >= 0xE0 && *p <= 0xEF) {
        length = 3;
        if (*p == 0xE0) low = 0xA0;
        if (*p == 0xED) high = 0x9F;
    } else if (*p >= 0xF0 && *p <= 0xF4) {
        length = 4;
        if (*p == 0xF0) low = 0x90;
        if (*p == 0xF4) high = 0x8F;
    } else {
        return 0;
    }
    if (left < length || p[1] < low || p[1] > high) return 0;
    for (size_t i = 2; i < length; i++) {
        if (p[i] < 0x80 || p[i] > 0xBF) return 0;
    }
    return length;
}

/* The value of four hexadecimal digits; -1 if they are not. */
static int unit(const unsigned char *p, const unsigned char *end) {
    if (end - p < 4) return -1;
    int value = 0;
    for (int i = 0; i < 4; i++) {
        int digit = p[i];
        if (digit >= '0' && digit <= '9') {
            digit -= '0';
        } else if ((digit | 0x20) >= 'a' && (digit | 0x20) <= 'f') {
            digit = (digit | 0x20) - 'a' + 10;
        } else {
            return -1;
        }
        value = value << 4 | digit;
    }
    return value;
}

static bool is_high(int value) { return value >= 0xD800 && value <= 0xDBFF; }
static bool is_low(int value) { return value >= 0xDC00 && value <= 0xDFFF; }

/* The length of the escape at `p`; 0 if it is not valid. `any_unit` also allows halves of surrogate pairs. */
static size_t escape(const unsigned char *p, const unsigned char *end, bool any_unit) {
    if (end - p < 2) return 0;
    switch (p[1]) {
    case '"': case '\\': case '/': case 'b': case 'f': case 'n': case 'r': case 't': return 2;
    case 'u': break;
    default: return 0;
    }
    int value = unit(p + 2, end);
    if (value < 0) return 0;
    if (any_unit || (!is_high(value) && !is_low(value))) return 6;
    bool is_pair = is_high(value) && end - p >= 12 && p[6] == '\\' && p[7] == 'u' && is_low(unit(p + 8, end));
    return is_pair ? 12 : 0;
}

/* Reads a string. `any_unit`: it is skipped, so that it need not be text. */
static bool scan_text(json *parser, json_text *text, bool any_unit) {
    if (!take(parser, '"')) return false;
    const unsigned char *p = parser->next, *end = parser->end;
    text->start = p;
    text->escaped = false;
    for (;;) {
        p = skip_plain(p, end);
        if (p == end || *p < 0x20) return false;
        if (*p == '"') break;
        size_t length;
        if (*p == '\\') {
            text->escaped = true;
            length = escape(p, end, any_unit);
        } else {
            length = sequence(p, end);
        }
        if (length == 0) return false;
        p += length;
    }
    text->size = (size_t)(p - text->start);
    parser->next = p + 1;
    return true;
}

bool json_read_text(json *parser, json_text *text) { return scan_text(parser, text, false); }

static size_t encode(unsigned scalar, unsigned char *target) {
    if (scalar == 0) scalar = 0xFFFD;
    if (scalar < 0x80) {
        target[0] = (unsigned char)scalar;
        return 1;
    }
    if (scalar < 0x800) {
        target[0] = (unsigned char)(0xC0 | scalar >> 6);
        target[1] = (unsigned char)(0x80 | (scalar & 0x3F));
        return 2;
    }
    if (scalar < 0x10000) {
        target[0] = (unsigned char)(0xE0 | scalar >> 12);
        target[1] = (unsigned char)(0x80 | (scalar >> 6 & 0x3F));
        target[2] = (unsigned char)(0x80 | (scalar & 0x3F));
        return 3;
    }
    target[0] = (unsigned char)(0xF0 | scalar >> 18);
    target[1] = (unsigned char)(0x80 | (scalar >> 12 & 0x3F));
    target[2] = (unsigned char)(0x80 | (scalar >> 6 & 0x3F));
    target[3] = (unsigned char)(0x80 | (scalar & 0x3F));
    return 4;
}

/* Decodes the byte or escape at `*p`, which are valid, and moves past it. Returns the number of bytes. */
static size_t decode(const unsigned char **p, const unsigned char *end, unsigned char target[4]) {
    const unsigned char *s = *p;
    target[0] = s[0];
    if (s[0] != '\\') {
        *p += 1;
        return 1;
    }
    *p += 2;
    switch (s[1]) {
    case 'b': target[0] = '\b'; return 1;
    case 'f': target[0] = '\f'; return 1;
    case 'n': target[0] = '\n'; return 1;
    case 'r': target[0] = '\r'; return 1;
    case 't': target[0] = '\t'; return 1;
    case 'u': break;
    default: target[0] = s[1]; return 1;
    }
    int value = unit(s + 2, end);
    *p += 4;
    if (is_high(value)) {
        value = 0x10000 + ((value - 0xD800) << 10) + (unit(s + 8, end) - 0xDC00);
        *p += 6;
    }
    return encode((unsigned)value, target);
}

size_t json_decode(const json_text *text, char *target) {
    size_t length = text->size;
    if (text->escaped) {
        const unsigned char *p = text->start, *end = p + text->size;
        length = 0;
        while (p < end) {
            unsigned char bytes[4];
            size_t count = decode(&p, end, bytes);
            memcpy(target + length, bytes, count);
            length += count;
        }
    } else {
        memcpy(target, text->start, length);
    }
    target[length] = '\0';
    return length;
}

bool json_decode_into(const json_text *text, char *buffer, size_t capacity) {
    if (text->size < capacity) {
        json_decode(text, buffer);
        return true;
    }
    if (!text->escaped) return false;
    const unsigned char *p = text->start, *end = p + text->size;
    size_t length = 0;
    while (p < end) {
        unsigned char bytes[4];
        size_t count = decode(&p, end, bytes);
        if (capacity - length <= count) return false;
        memcpy(buffer + length, bytes, count);
        length += count;
    }
    buffer[length] = '\0';
    return true;
}

bool json_text_is(const json_text *text, const char *other, size_t size) {
    if (!text->escaped) return text->size == size && memcmp(text->start, other, size) == 0;
    const unsigned char *p = text->start, *end = p + text->size;
    size_t length = 0;
    while (p < end) {
        unsigned char bytes[4];
        size_t count = decode(&p, end, bytes);
        if (size - length < count || memcmp(other + length, bytes, count) != 0) return false;
        length += count;
    }
    return length == size;
}

/* MARK: Numbers */

static bool is_digit(const json *parser) {
    return parser->next < parser->end && *parser->next >= '0' && *parser->next <= '9';
}

static bool skip_digits(json *parser) {
    if (!is_digit(parser)) return false;
    while (is_digit(parser)) parser->next++;
    return true;
}

static bool skip_number(json *parser) {
    if (parser->next < parser->end && *parser->next == '-') parser->next++;
    bool is_zero = parser->next < parser->end && *parser->next == '0';
    if (is_zero) {
        parser->next++;
        if (is_digit(parser)) return false;
    } else if (!skip_digits(parser)) {
        return false;
    }
    if (parser->next < parser->end && *parser->next == '.') {
        parser->next++;
        if (!skip_digits(parser)) return false;
    }
    if (parser->next < parser->end && (*parser->next | 0x20) == 'e') {
        parser->next++;
        if (parser->next < parser->end && (*parser->next == '+' || *parser->next == '-')) parser->next++;
        if (!skip_digits(parser)) return false;
    }
    return true;
}

/* Multiplies by a power of ten; false if the result is out of range. */
static bool scale(uint64_t *value, uint64_t power) {
    for (; power > 0 && *value != 0; power--) {
        if (*value > (UINT64_C(1) << 63) / 10) return false;
        *value *= 10;
    }
    return true;
}

bool json_read_integer(json *parser, int64_t *number) {
    skip_space(parser);
    const unsigned char *p = parser->next;
    if (!skip_number(parser)) return false;
    const unsigned char *end = parser->next;
    bool is_negative = *p == '-';
    if (is_negative) p++;
    uint64_t limit = (uint64_t)INT64_MAX + is_negative;

    /* The digits up to the last one that is not 0, and the number of zeros after it. */
    uint64_t value = 0, zeros = 0, fraction = 0;
    bool in_fraction = false;
    for (; p < end && (*p | 0x20) != 'e'; p++) {
        if (*p == '.') {
            in_fraction = true;
            continue;
        }
        if (in_fraction) fraction++;
        if (*p == '0') {
            zeros++;
            continue;
        }
        if (!scale(&value, zeros + 1)) return false;
        value += (uint64_t)(*p - '0');
        if (value > limit) return false;
        zeros = 0;
    }
    if (value != 0) {
        int64_t power = (int64_t)zeros - (int64_t)fraction, exponent = 0;
        if (p < end) {
            bool is_small = *++p == '-';
            if (*p == '-' || *p == '+') p++;
            /* No text has as many digits as to make up for a longer exponent. */
            for (; p < end; p++) {
                if (exponent < INT64_MAX / 100) exponent = exponent * 10 + (*p - '0');
            }
            if (is_small) exponent = -exponent;
        }
        power += exponent;
        if (power < 0 || !scale(&value, (uint64_t)power) || value > limit) return false;
    }
    *number = is_negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

/* MARK: Other values */

bool json_take_null(json *parser) { return take_word(parser, "null", 4); }

bool json_read_bool(json *parser, bool *value) {
    *value = take_word(parser, "true", 4);
    return *value || take_word(parser, "false", 5);
}

static bool enter(json *parser, unsigned char bracket) {
    if (parser->depth == JSON_DEPTH || !take(parser, bracket)) return false;
    parser->depth++;
    parser->fresh = true;
    return true;
}

bool json_enter_object(json *parser) { return enter(parser, '{'); }
bool json_enter_array(json *parser) { return enter(parser, '['); }

/* Moves to the place of the next key or element. */
static int next(json *parser, unsigned char bracket) {
    if (take(parser, bracket)) {
        parser->depth--;
        parser->fresh = false;
        return 0;
    }
    if (!parser->fresh && !take(parser, ',')) return -1;
    parser->fresh = false;
    return 1;
}

static int next_member(json *parser, json_text *key, bool any_unit) {
    int result = next(parser, '}');
    if (result <= 0) return result;
    return scan_text(parser, key, any_unit) && take(parser, ':') ? 1 : -1;
}

int json_next_member(json *parser, json_text *key) { return next_member(parser, key, false); }

/* The same as json_next_member() if the next key is this one, written with its quotes and a colon right after it. */
static bool take_member(json *parser, const char *key, size_t size) {
    const unsigned char *p = parser->next, *end = parser->end;
    if (!parser->fresh) {
        if (p == end || *p != ',') return false;
        p++;
    }
    if (p < end && *p == ' ') p++;
    if ((size_t)(end - p) < size || memcmp(p, key, size) != 0) return false;
    parser->next = p + size;
    parser->fresh = false;
    return true;
}

int json_next_key(json *parser, const json_key *keys, unsigned count, unsigned *index) {
    for (unsigned i = *index + 1; i < count && i < *index + 5; i++) {
        if (!take_member(parser, keys[i].text, keys[i].size + 3U)) continue;
        *index = i;
        return 1;
    }
    json_text key;
    int result = json_next_member(parser, &key);
    if (result <= 0) return result;
    unsigned i = 0;
    while (i < count && !json_text_is(&key, keys[i].text + 1, keys[i].size)) i++;
    *index = i;
    return result;
}

int json_next_element(json *parser) { return next(parser, ']'); }

static bool skip_scalar(json *parser) {
    if (parser->next == parser->end) return false;
    json_text text;
    bool value;
    switch (*parser->next) {
    case '"': return scan_text(parser, &text, true);
    case 't': case 'f': return json_read_bool(parser, &value);
    case 'n': return json_take_null(parser);
    default: return skip_number(parser);
    }
}

bool json_skip(json *parser) {
    /* A bit for each level: whether it is an object. */
    unsigned char objects[JSON_DEPTH / 8 + 1];
    unsigned base = parser->depth;
    for (;;) {
        skip_space(parser);
        unsigned char bit = (unsigned char)(1U << (parser->depth + 1) % 8);
        unsigned char *byte = &objects[(parser->depth + 1) / 8];
        unsigned char first = parser->next < parser->end ? *parser->next : 0;
        if (first == '{') {
            if (!json_enter_object(parser)) return false;
            *byte = (unsigned char)(*byte | bit);
        } else if (first == '[') {
            if (!json_enter_array(parser)) return false;
            *byte = (unsigned char)(*byte & ~bit);
        } else if (!skip_scalar(parser)) {
            return false;
        }
        for (;;) {
            if (parser->depth == base) return true;
            json_text key;
            bool is_object = objects[parser->depth / 8] >> parser->depth % 8 & 1;
            int result = is_object ? next_member(parser, &key, true) : json_next_element(parser);
            if (result < 0) return false;
            if (result > 0) break;
        }
    }
}
