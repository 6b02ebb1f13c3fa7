/* SPDX-License-Identifier: Apache-2.0 */
/* Fills in an `iconcache_error`, which may be NULL. Each function returns the result that it reports. */
#ifndef ICONCACHE_REPORT_H
#define ICONCACHE_REPORT_H

#include "iconcache.h"

int report_no_cache(iconcache_error *error, const char *folder);
/* `system_error` is one of file.h's, too. */
int report_unreadable(iconcache_error *error, const char *path, int system_error);
/* `reason` is a clause. */
int report_damaged(iconcache_error *error, const char *path, const char *reason);
int report_unknown_format(iconcache_error *error, const char *path, int64_t format);
int report_no_memory(iconcache_error *error);
/* `argument` is the name of a parameter. */
int report_null(iconcache_error *error, const char *argument);
__attribute__((format(printf, 2, 3))) int report_invalid(iconcache_error *error, const char *format, ...);
__attribute__((format(printf, 2, 3))) int report_absent(iconcache_error *error, const char *format, ...);

/* A URL or name of others within a message: the text, or as much of it as the buffer has room for. */
enum { SHOWN_SIZE = 256 };
const char *shown(const char *text, char buffer[SHOWN_SIZE]);

#endif
