/* SPDX-License-Identifier: Apache-2.0 */
#include "absence.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "report.h"

/* MARK: Images */

/* The most entries that are read for a message, which takes a millisecond or two: a program may look for many URLs. */
enum { MOST_ENTRIES = 1000 };

static bool are_few(const iconcache_snapshot *snapshot) {
    uint64_t count = 0;
    const iconcache_list *list;
    for (size_t i = 0; count <= MOST_ENTRIES && (list = iconcache_snapshot_list(snapshot, i)) != NULL; i++) {
        count = list->apps > MOST_ENTRIES ? list->apps : count + list->apps;
    }
    return count <= MOST_ENTRIES;
}

/* What the entry that counts for the URL says. */
static int report_entry(const iconcache_app *app, const char *url, iconcache_error *error) {
    switch (app->status) {
    case ICONCACHE_PENDING: return report_absent(error, "%s has not been downloaded yet.", url);
    case ICONCACHE_FAILED: return report_absent(error, "%s could not be downloaded (%s).", url, app->error);
    case ICONCACHE_READY: break;
    }
    return report_absent(error,
        "%s has an image, but its name in by-url/ is missing. If it stays so, run: syncagent verify --repair", url);
}

/* Reports what the lists say of a URL; false if that is not known. */
static bool explain(const iconcache *cache, const char *url, iconcache_error *error) {
    iconcache_snapshot *snapshot;
    iconcache_apps *apps = NULL;
    char buffer[SHOWN_SIZE];
    bool is_explained = false;
    if (iconcache_snapshot_new(cache, &snapshot, NULL) != ICONCACHE_OK) return false;
    if (are_few(snapshot)) {
        int code = iconcache_apps_of_url(snapshot, url, &apps, error);
        is_explained = code == ICONCACHE_OK || code == ICONCACHE_ABSENT;
        if (code == ICONCACHE_OK) report_entry(iconcache_apps_next(apps), shown(url, buffer), error);
    }
    iconcache_apps_free(apps);
    iconcache_snapshot_free(snapshot);
    return is_explained;
}

int report_no_image(const iconcache *cache, const char *url, iconcache_error *error) {
    struct stat status;
    char buffer[SHOWN_SIZE];
    if (stat(cache->manifest, &status) != 0) return report_manifest(cache, errno, error);
    if (error == NULL || explain(cache, url, error)) return ICONCACHE_ABSENT;
    return report_absent(error,
        "There is no image of %s in %s: no app list names it, or it has not been downloaded. See: syncagent why URL",
        shown(url, buffer), cache->folder);
}

/* MARK: Lists and entries */

int report_unknown_url(const iconcache *cache, const char *url, iconcache_error *error) {
    char buffer[SHOWN_SIZE];
    return report_absent(error, "No app list in %s names %s: spell the URL exactly as in the list.", cache->folder,
        shown(url, buffer));
}

int report_unknown_name(const iconcache *cache, const char *name, iconcache_error *error) {
    char buffer[SHOWN_SIZE];
    return report_absent(error, "No app list in %s has an app named “%s”.", cache->folder, shown(name, buffer));
}

int report_unknown_list(const iconcache_snapshot *snapshot, const char *list, iconcache_error *error) {
    enum { MOST_NAMES = 3 };
    char buffer[SHOWN_SIZE], other[SHOWN_SIZE], names[MOST_NAMES * (SHOWN_SIZE + 2) + 64] = "no list";
    size_t count = iconcache_snapshot_lists(snapshot), length = 0;
    for (size_t i = 0; i < count && i < MOST_NAMES; i++) {
        const char *name = iconcache_snapshot_list(snapshot, i)->name;
        length += (size_t)snprintf(
            names + length, sizeof names - length, "%s%s", i == 0 ? "" : ", ", shown(name, other));
    }
    if (count > MOST_NAMES) snprintf(names + length, sizeof names - length, " and %zu more", count - MOST_NAMES);
    return report_absent(error, "There is no app list “%s” in %s, or no accepted version of it yet. There is %s.",
        shown(list, buffer), snapshot->cache->folder, names);
}
