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

__attribute__((format(printf, 4, 5)))
static int report(iconcache_error *error, int code, int system_error, const char *format, ...) {
    if (error == NULL) return code;
    error->code = code;
    error->system_error = system_error;
    va_list arguments;
    va_start(arguments, format);
    if (vsnprintf(error->message, sizeof error->message, format, arguments) < 0) error->message[0] = '\0';
    va_end(arguments);
    make_printable(error->message);
    return code;
}

int report_no_cache(iconcache_error *error, const char *folder) {
    return report(error, ICONCACHE_NO_CACHE, 0,
        "There is no icon cache at %s: start syncagent, or name the cache folder it uses.", folder);
}

int report_unreadable(iconcache_error *error, const char *path, int system_error) {
    switch (system_error) {
    case FILE_IS_NONE: return report_damaged(error, path, "it is not a regular file");
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

int report_invalid(iconcache_error *error, const char *sentence) {
    return report(error, ICONCACHE_INVALID, 0, "%s", sentence);
}

int report_absent(iconcache_error *error, const char *sentence) {
    return report(error, ICONCACHE_ABSENT, 0, "%s", sentence);
}
