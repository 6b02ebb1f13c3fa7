/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cache.h"
#include "file.h"
#include "known.h"
#include "report.h"
#include "signals.h"

/* Identifies a file and its version. No program can set the time of the last change. */
struct identity {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed;
};

/* A manifest that could not be read. */
struct failure {
    bool is_reported;
    int system_error;         /* why its identity is not known; 0 if it is */
    struct identity identity;
};

struct iconcache_watch {
    const iconcache *cache;
    struct signals signals;
    bool has_newest;
    struct identity newest; /* that of the manifest that was read last */
    struct failure failure;
    struct known known;
    struct batch batch;
    /* The next change of the batch. Each stage goes through its items with `index`, the second one with `old`, too. */
    enum { NONE, REMOVED_LISTS, OTHER_LISTS, ICONS } stage;
    size_t index, old;
    iconcache_change change;
};

/* MARK: Reading a generation */

/* Reads the newest generation. If that fails, what is known stays. */
static int read_news(iconcache_watch *watch, iconcache_error *error) {
    iconcache_snapshot *snapshot;
    int code = iconcache_snapshot_new(watch->cache, &snapshot, error);
    if (code != ICONCACHE_OK) return code;
    code = known_advance(&watch->known, snapshot, &watch->batch, error);
    iconcache_snapshot_free(snapshot);
    if (code != ICONCACHE_OK) return code;
    watch->stage = REMOVED_LISTS;
    watch->index = 0;
    return code;
}

/* The identity of the manifest; returns an errno(3) number. */
static int identify(const iconcache *cache, struct identity *identity) {
    struct stat status;
    *identity = (struct identity){0};
    if (stat(cache->manifest, &status) != 0) return errno;
    identity->device = status.st_dev;
    identity->inode = status.st_ino;
    identity->size = status.st_size;
    identity->changed = status.st_ctim;
    return 0;
}

static bool is_same(const struct identity *a, const struct identity *b) {
    return a->device == b->device && a->inode == b->inode && a->size == b->size
        && a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

/* Whether an error of this manifest was reported within two seconds: a loop that ignores it does not spin. */
static bool is_reported(iconcache_watch *watch, const struct failure *newest, bool is_time_over) {
    struct failure *last = &watch->failure;
    bool is_other = newest->system_error != last->system_error || !is_same(&newest->identity, &last->identity);
    if (is_other || is_time_over) last->is_reported = false;
    return last->is_reported;
}

static int report_failure(
    iconcache_watch *watch, int code, struct failure failure, const iconcache_error *found, iconcache_error *error) {
    if (error != NULL) *error = *found;
    failure.is_reported = true;
    watch->failure = failure;
    signals_wait(&watch->signals);
    return code;
}

/* Begins the next batch; ICONCACHE_ABSENT if there is no manifest, or nothing new to say of this one. */
static int refresh(iconcache_watch *watch, iconcache_error *error) {
    enum { ATTEMPTS = 100 };
    bool is_time_over = signals_renew(&watch->signals, watch->cache->folder);
    for (int attempt = 1;; attempt++) {
        struct failure newest = {0};
        iconcache_error found;
        newest.system_error = identify(watch->cache, &newest.identity);
        bool is_known = file_is_absence(newest.system_error) || is_reported(watch, &newest, is_time_over)
            || (watch->has_newest && is_same(&newest.identity, &watch->newest));
        if (is_known) return report_absent(error, "There is no further change in %s for now.", watch->cache->folder);
        if (newest.system_error != 0) {
            int code = report_unreadable(&found, watch->cache->manifest, newest.system_error);
            return report_failure(watch, code, newest, &found, error);
        }
        int code = read_news(watch, &found);
        if (code == ICONCACHE_OK) {
            watch->has_newest = true;
            watch->newest = newest.identity;
            return code;
        }
        /* A generation that was superseded and removed during the read is not damaged. */
        struct identity after;
        bool is_final = code == ICONCACHE_NO_MEMORY || attempt == ATTEMPTS
            || (identify(watch->cache, &after) == 0 && is_same(&newest.identity, &after));
        if (is_final) return report_failure(watch, code, newest, &found, error);
    }
}

/* MARK: Changes */

static bool next_removed_list(iconcache_watch *watch) {
    const struct batch *batch = &watch->batch;
    if (watch->index == batch->removed) return false;
    watch->change = (iconcache_change){.kind = ICONCACHE_LIST_REMOVED, .list = batch->gone[watch->index++]->name};
    return true;
}

static bool next_other_list(iconcache_watch *watch) {
    const struct batch *batch = &watch->batch;
    const struct lists *lists = &watch->known.lists;
    while (watch->index < lists->count && !lists->all[watch->index]->is_new) watch->index++;
    if (watch->index == lists->count) return false;
    const char *name = lists->all[watch->index++]->name;
    /* The old versions are sorted by name, too. */
    bool is_changed = watch->old < batch->count && strcmp(batch->gone[watch->old]->name, name) == 0;
    if (is_changed) watch->old++;
    watch->change.kind = is_changed ? ICONCACHE_LIST_CHANGED : ICONCACHE_LIST_ADDED;
    watch->change.list = name;
    return true;
}

static bool next_icon(iconcache_watch *watch) {
    const struct batch *batch = &watch->batch;
    if (watch->index == batch->changes_count) return false;
    const struct icon_change *change = &batch->changes[watch->index++];
    watch->change.kind = change->kind;
    watch->change.url = change->icon->url;
    if (change->claim == NULL) return true;
    const struct list *list = change->claim->list;
    apps_return(list->apps, list->places[change->claim - list->claims]);
    watch->change.image = iconcache_apps_next(list->apps)->image;
    return true;
}

/* Whether the batch has another change; ends it otherwise. */
static bool next_change(iconcache_watch *watch) {
    watch->change = (iconcache_change){0};
    while (watch->stage != NONE) {
        switch (watch->stage) {
        case NONE: break;
        case REMOVED_LISTS:
            if (next_removed_list(watch)) return true;
            watch->stage = OTHER_LISTS;
            watch->old = watch->batch.removed;
            break;
        case OTHER_LISTS:
            if (next_other_list(watch)) return true;
            watch->stage = ICONS;
            break;
        case ICONS:
            if (next_icon(watch)) return true;
            watch->stage = NONE;
            known_end_batch(&watch->known, &watch->batch);
        }
        watch->index = 0;
    }
    return false;
}

/* MARK: The watch */

int iconcache_watch_new(const iconcache *cache, iconcache_watch **watch, iconcache_error *error) {
    if (watch != NULL) *watch = NULL;
    if (cache == NULL || watch == NULL) return report_null(error, cache == NULL ? "cache" : "watch");
    iconcache_watch *result = calloc(1, sizeof *result);
    if (result == NULL) return report_no_memory(error);
    result->cache = cache;
    result->known.icons.accelerated = cache->accelerated;
    int failure = signals_begin(&result->signals, cache->folder);
    if (failure != 0) {
        free(result);
        return report_unreadable(error, cache->folder, failure);
    }
    *watch = result;
    return ICONCACHE_OK;
}

void iconcache_watch_free(iconcache_watch *watch) {
    if (watch == NULL) return;
    signals_end(&watch->signals);
    known_end_batch(&watch->known, &watch->batch);
    known_free(&watch->known);
    free(watch);
}

int iconcache_watch_descriptor(const iconcache_watch *watch) { return watch == NULL ? -1 : watch->signals.any; }

int iconcache_watch_next(iconcache_watch *watch, const iconcache_change **change, iconcache_error *error) {
    if (change != NULL) *change = NULL;
    if (watch == NULL || change == NULL) return report_null(error, watch == NULL ? "watch" : "change");
    while (!next_change(watch)) {
        int code = refresh(watch, error);
        if (code != ICONCACHE_OK) return code;
    }
    *change = &watch->change;
    return ICONCACHE_OK;
}
