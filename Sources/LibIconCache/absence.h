/* SPDX-License-Identifier: Apache-2.0 */
/* Reports what a cache does not have, and tells what no list names from what is not on disk yet. */
#ifndef ICONCACHE_ABSENCE_H
#define ICONCACHE_ABSENCE_H

#include "cache.h"

/*
 * For a URL that no name leads from: ICONCACHE_ABSENT, unless there is no manifest.
 *
 * If there is an `error`, and the lists are short, it reads them to say why.
 */
int report_no_image(const iconcache *cache, const char *url, iconcache_error *error);

int report_unknown_url(const iconcache *cache, const char *url, iconcache_error *error);
int report_unknown_name(const iconcache *cache, const char *name, iconcache_error *error);
int report_unknown_list(const iconcache_snapshot *snapshot, const char *list, iconcache_error *error);

#endif
