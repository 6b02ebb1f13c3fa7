/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cache.h"
#include "report.h"
#include "sha256.h"

static int number(const char *digits, int count) {
    int value = 0;
    for (int i = 0; i < count; i++) {
        if (digits[i] < '0' || digits[i] > '9') return -1;
        value = value * 10 + (digits[i] - '0');
    }
    return value;
}

bool is_time(const json_text *text) {
    char time[TIME_LENGTH + 1];
    if (!json_decode_into(text, time, sizeof time) || strlen(time) != TIME_LENGTH) return false;
    if (time[4] != '-' || time[7] != '-' || time[10] != 'T' || time[13] != ':' || time[16] != ':' || time[19] != 'Z') {
        return false;
    }
    int year = number(time, 4), month = number(time + 5, 2), day = number(time + 8, 2);
    int hour = number(time + 11, 2), minute = number(time + 14, 2), second = number(time + 17, 2);
    if (year < 0 || month < 1 || month > 12 || day < 1) return false;
    static const signed char lengths[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (day > lengths[month - 1] + (month == 2 && is_leap ? 1 : 0)) return false;
    return hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 && second < 60;
}

bool read_digits(const json_text *text, char digits[65]) {
    return json_decode_into(text, digits, SHA256_DIGITS + 1) && sha256_is_hex(digits);
}

bool is_image_path(const json_text *text, const char *digits) {
    enum { SUFFIX = 16, FOLDER = 6 + 3, NAME_END = FOLDER + SHA256_DIGITS };
    char path[NAME_END + 1 + SUFFIX + 1];
    if (!json_decode_into(text, path, sizeof path)) return false;
    size_t length = strlen(path);
    if (length < NAME_END + 2 || memcmp(path, "icons/", 6) != 0 || memcmp(path + 6, digits, 2) != 0 || path[8] != '/'
        || memcmp(path + FOLDER, digits, SHA256_DIGITS) != 0 || path[NAME_END] != '.') {
        return false;
    }
    for (const char *p = path + NAME_END + 1; *p != '\0'; p++) {
        bool is_allowed = (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z');
        if (!is_allowed) return false;
    }
    return true;
}

bool is_repeated(uint32_t *seen, unsigned bit) {
    uint32_t mask = UINT32_C(1) << bit;
    bool result = *seen & mask;
    *seen |= mask;
    return result;
}

int examine_format(const void *bytes, size_t size, int64_t *format) {
    json parser;
    json_begin(&parser, bytes, size);
    if (!json_enter_object(&parser)) return ICONCACHE_DAMAGED;
    json_text key;
    bool is_known = false;
    int result;
    while ((result = json_next_member(&parser, &key)) > 0) {
        if (!is_known && json_text_is(&key, "format", 6)) {
            if (!json_read_integer(&parser, format)) return ICONCACHE_DAMAGED;
            is_known = true;
        } else if (!json_skip(&parser)) {
            return ICONCACHE_DAMAGED;
        }
    }
    bool is_other = result == 0 && json_at_end(&parser) && is_known && *format != 1;
    return is_other ? ICONCACHE_UNKNOWN_FORMAT : ICONCACHE_DAMAGED;
}

int report_document(
    iconcache_error *error, const char *path, const void *bytes, size_t size, const char *reason) {
    int64_t format = 0;
    if (examine_format(bytes, size, &format) == ICONCACHE_UNKNOWN_FORMAT) {
        return report_unknown_format(error, path, format);
    }
    return report_damaged(error, path, reason);
}
