/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "file.h"

/* Keeps the message on one line, and ends it with a whole character. */
static void make_printable(char *text) {
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7F) text[i] = '?';
    }
    size_t start = length;
    while (start > 0 && length - start < 4 && ((unsigned char)text[start - 1] & 0xC0) == 0x80) start--;
    if (start == 0) return;
    unsigned char first = (unsigned char)text[start - 1];
    size_t expected = first < 0xC0 ? 0 : first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
    if (first >= 0xC0 && length - start < expected) text[start - 1] = '\0';
}

__attribute__((format(printf, 4, 0)))
static int report_all(iconcache_error *error, int code, int system_error, const char *format, va_list arguments) {
    if (error == NULL) return code;
    error->code = code;
    error->system_error = system_error;
    if (vsnprintf(error->message, sizeof error->message, format, arguments) < 0) error->message[0] = '\0';
    make_printable(error->message);
    return code;
}

__attribute__((format(printf, 4, 5)))
static int report(iconcache_error *error, int code, int system_error, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    report_all(error, code, system_error, format, arguments);
    va_end(arguments);
    return code;
}

int report_no_cache(iconcache_error *error, const char *folder) {
    return report(error, ICONCACHE_NO_CACHE, 0,
        "There is no icon cache at %s: start syncagent, or name the cache folder it uses.", folder);
}

int report_unreadable(iconcache_error *error, const char *path, int system_error) {
    switch (system_error) {
    case FILE_IS_NONE: return report_damaged(error, path, "it is not a regular file");
    case FILE_IS_TOO_LARGE: return report_damaged(error, path, "it is too large");
    case FILE_IS_OUTSIDE: return report_damaged(error, path, "it is a link that leads out of the cache folder");
    case ENOMEM: return report_no_memory(error);
    default: break;
    }
    char buffer[128];
    const char *text = error == NULL ? "" : strerror_r(system_error, buffer, sizeof buffer);
    return report(error, ICONCACHE_UNREADABLE, system_error, "Cannot read %s: %s.", path, text);
}

int report_damaged(iconcache_error *error, const char *path, const char *reason) {
    return report(error, ICONCACHE_DAMAGED, 0,
        "%s is damaged: %s. Restart syncagent: it goes back to the newest good generation.", path, reason);
}

int report_unknown_format(iconcache_error *error, const char *path, int64_t format) {
    return report(error, ICONCACHE_UNKNOWN_FORMAT, 0,
        "%s has format %" PRId64 ", and this program reads format 1: install a newer version of libiconcache.", path,
        format);
}

int report_no_memory(iconcache_error *error) {
    return report(error, ICONCACHE_NO_MEMORY, 0, "There is not enough memory.");
}

int report_null(iconcache_error *error, const char *argument) {
    return report(error, ICONCACHE_INVALID, 0, "The argument “%s” is NULL.", argument);
}

int report_invalid(iconcache_error *error, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    report_all(error, ICONCACHE_INVALID, 0, format, arguments);
    va_end(arguments);
    return ICONCACHE_INVALID;
}

int report_absent(iconcache_error *error, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    report_all(error, ICONCACHE_ABSENT, 0, format, arguments);
    va_end(arguments);
    return ICONCACHE_ABSENT;
}

const char *shown(const char *text, char buffer[SHOWN_SIZE]) {
    static const char more[] = "…";
    size_t length = strnlen(text, SHOWN_SIZE);
    if (length < SHOWN_SIZE) return text;
    length = SHOWN_SIZE - sizeof more;
    /* Not amid a character. */
    while (length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80) length--;
    memcpy(buffer, text, length);
    memcpy(buffer + length, more, sizeof more);
    return buffer;
}
