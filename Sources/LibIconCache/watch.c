/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cache.h"
#include "file.h"
#include "icons.h"
#include "report.h"
#include "sha256.h"
#include "signals.h"

/* Identifies a file and its version. No program can set the time of the last change. */
struct identity {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed;
};

struct list {
    char *name;
    char sha256[SHA256_DIGITS + 1];
    struct icon **ready; /* its ready icons in order, without duplicates */
    size_t count, capacity;
};

struct lists {
    struct list *all; /* sorted by name */
    size_t count;
};

struct changed {
    iconcache_apps *apps;
    struct list *list;
};

/* The changes of one publication, of which some were given. Each stage goes through its items with `index`. */
struct batch {
    enum { NONE, REMOVED_LISTS, CHANGED_LISTS, ICONS, LEFT_ICONS } stage;
    size_t index;
    struct lists before;
    struct changed *changed;
    size_t changed_count;
    struct icon **left; /* the icons of removed lists and of the old versions of changed ones */
    size_t left_count;
};

struct iconcache_watch {
    const iconcache *cache;
    struct signals signals;
    bool has_newest;
    struct identity newest; /* that of the manifest that was read last */
    struct lists lists;
    struct icons icons;
    struct batch batch;
    uint64_t batches, documents; /* how many there have been */
    iconcache_change change;
    struct icon *gone; /* the icon of the last change, which is in the table no more */
};

/* MARK: Lists */

static struct list *find_list(const struct lists *lists, const char *name) {
    size_t low = 0, high = lists->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(name, lists->all[middle].name);
        if (order == 0) return &lists->all[middle];
        if (order < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return NULL;
}

static void free_lists(struct lists *lists) {
    for (size_t i = 0; i < lists->count; i++) {
        free(lists->all[i].name);
        free(lists->all[i].ready);
    }
    free(lists->all);
    *lists = (struct lists){0};
}

/* MARK: Reading a generation */

static void free_batch(struct batch *batch) {
    for (size_t i = 0; i < batch->changed_count; i++) iconcache_apps_free(batch->changed[i].apps);
    free(batch->changed);
    free(batch->left);
    free_lists(&batch->before);
    *batch = (struct batch){0};
}

/* Makes the lists of a generation, without their icons; false without memory. */
static bool copy_lists(const iconcache_snapshot *snapshot, struct lists *lists) {
    size_t count = iconcache_snapshot_lists(snapshot);
    lists->all = calloc(count + 1, sizeof *lists->all);
    if (lists->all == NULL) return false;
    for (size_t i = 0; i < count; i++) {
        const iconcache_list *list = iconcache_snapshot_list(snapshot, i);
        struct list *copy = &lists->all[lists->count];
        copy->name = strdup(list->name);
        if (copy->name == NULL) return false;
        memcpy(copy->sha256, list->sha256, sizeof copy->sha256);
        lists->count++;
    }
    return true;
}

static bool is_known(const iconcache_watch *watch, const struct list *list) {
    const struct list *known = find_list(&watch->lists, list->name);
    return known != NULL && strcmp(known->sha256, list->sha256) == 0;
}

/* Reads the documents that are not known, and makes room for what a batch needs. */
static int prepare(
    const iconcache_watch *watch, const iconcache_snapshot *snapshot, struct lists *lists, struct batch *batch,
    iconcache_error *error) {
    size_t known = 0;
    for (size_t i = 0; i < watch->lists.count; i++) known += watch->lists.all[i].count;
    batch->left = calloc(known + 1, sizeof *batch->left);
    batch->changed = calloc(iconcache_snapshot_lists(snapshot) + 1, sizeof *batch->changed);
    if (batch->left == NULL || batch->changed == NULL || !copy_lists(snapshot, lists)) return report_no_memory(error);
    for (size_t i = 0; i < lists->count; i++) {
        struct list *list = &lists->all[i];
        if (is_known(watch, list)) continue;
        struct changed *changed = &batch->changed[batch->changed_count];
        int code = iconcache_apps_new(snapshot, list->name, &changed->apps, error);
        if (code != ICONCACHE_OK) return code;
        changed->list = list;
        batch->changed_count++;
    }
    return ICONCACHE_OK;
}

/* Goes over to the lists of another generation. */
static void begin_batch(iconcache_watch *watch, struct lists *lists, struct batch *batch) {
    for (size_t i = 0; i < lists->count; i++) {
        struct list *list = &lists->all[i];
        if (!is_known(watch, list)) continue;
        struct list *known = find_list(&watch->lists, list->name);
        list->ready = known->ready;
        list->count = known->count;
        list->capacity = known->capacity;
        known->ready = NULL;
        known->count = 0;
    }
    batch->before = watch->lists;
    batch->stage = REMOVED_LISTS;
    watch->lists = *lists;
    watch->batch = *batch;
    watch->batches++;
}

/* Reads the newest generation. If that fails, what is known stays. */
static int read_news(iconcache_watch *watch, iconcache_error *error) {
    iconcache_snapshot *snapshot;
    int code = iconcache_snapshot_new(watch->cache, &snapshot, error);
    if (code != ICONCACHE_OK) return code;
    struct lists lists = {0};
    struct batch batch = {0};
    code = prepare(watch, snapshot, &lists, &batch, error);
    iconcache_snapshot_free(snapshot);
    if (code == ICONCACHE_OK) {
        begin_batch(watch, &lists, &batch);
    } else {
        free_lists(&lists);
        free_batch(&batch);
    }
    return code;
}

/* The identity of the manifest; returns an errno(3) number. */
static int identify(const iconcache *cache, struct identity *identity) {
    struct stat status;
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

static int report_no_change(iconcache_error *error) { return report_absent(error, "There is no further change."); }

/* Begins the next batch; ICONCACHE_ABSENT if the manifest is the one that was read last, or there is none. */
static int refresh(iconcache_watch *watch, iconcache_error *error) {
    enum { ATTEMPTS = 100 };
    signals_renew(&watch->signals, watch->cache->folder);
    for (int attempt = 1;; attempt++) {
        struct identity identity = {0}, after = {0};
        int failure = identify(watch->cache, &identity);
        if (file_is_absence(failure)) return report_no_change(error);
        if (failure != 0) return report_unreadable(error, watch->cache->manifest, failure);
        if (watch->has_newest && is_same(&identity, &watch->newest)) return report_no_change(error);
        int code = read_news(watch, error);
        if (code == ICONCACHE_OK) {
            watch->has_newest = true;
            watch->newest = identity;
            return code;
        }
        /* A generation that was superseded and removed during the read is not damaged. */
        bool is_final = code == ICONCACHE_NO_MEMORY || attempt == ATTEMPTS
            || (identify(watch->cache, &after) == 0 && is_same(&identity, &after));
        if (is_final) return code;
    }
}

/* MARK: Changes */

static void set_change(
    iconcache_watch *watch, iconcache_change_kind kind, const char *list, const char *url,
    const iconcache_image *image) {
    watch->change = (iconcache_change){.kind = kind, .list = list, .url = url, .image = image};
}

/* Removes the icons of a list's old version. */
static void forget(struct batch *batch, struct list *list) {
    for (size_t i = 0; i < list->count; i++) {
        struct icon *icon = list->ready[i];
        icon->lists--;
        if (icon->is_left) continue;
        icon->is_left = true;
        batch->left[batch->left_count++] = icon;
    }
    free(list->ready);
    list->ready = NULL;
    list->count = 0;
}

static bool next_removed_list(iconcache_watch *watch) {
    struct batch *batch = &watch->batch;
    while (batch->index < batch->before.count) {
        struct list *list = &batch->before.all[batch->index++];
        if (find_list(&watch->lists, list->name) != NULL) continue;
        forget(batch, list);
        set_change(watch, ICONCACHE_LIST_REMOVED, list->name, NULL, NULL);
        return true;
    }
    return false;
}

static bool next_changed_list(iconcache_watch *watch) {
    struct batch *batch = &watch->batch;
    if (batch->index == batch->changed_count) return false;
    const char *name = batch->changed[batch->index++].list->name;
    struct list *known = find_list(&batch->before, name);
    if (known != NULL) forget(batch, known);
    set_change(watch, known == NULL ? ICONCACHE_LIST_ADDED : ICONCACHE_LIST_CHANGED, name, NULL, NULL);
    return true;
}

static bool make_room(struct list *list) {
    if (list->count < list->capacity) return true;
    size_t capacity = list->capacity == 0 ? 16 : 2 * list->capacity;
    struct icon **ready = reallocarray(list->ready, capacity, sizeof *ready);
    if (ready == NULL) return false;
    list->ready = ready;
    list->capacity = capacity;
    return true;
}

/* Adds a ready icon of a list: 1 if that is a change, 0 if not, and -1 without memory. */
static int add_icon(iconcache_watch *watch, struct list *list, const iconcache_app *app) {
    struct icon *icon = icons_find(&watch->icons, app->icon);
    bool is_new = icon == NULL;
    if (!is_new && icon->document == watch->documents) return 0;
    if (!make_room(list)) return -1;
    if (is_new) icon = icons_add(&watch->icons, app->icon);
    if (icon == NULL) return -1;
    unsigned char image[SHA256_SIZE];
    sha256_read_digits(app->image->sha256, image);
    /* If several lists give the icon different images, the first one by name counts. */
    bool is_other = icon->batch != watch->batches && memcmp(icon->image, image, sizeof image) != 0;
    if (is_new || is_other) memcpy(icon->image, image, sizeof image);
    list->ready[list->count++] = icon;
    icon->lists++;
    icon->document = watch->documents;
    icon->batch = watch->batches;
    if (!is_new && !is_other) return 0;
    set_change(watch, is_new ? ICONCACHE_ICON_READY : ICONCACHE_ICON_REPLACED, NULL, icon->url, app->image);
    return 1;
}

/* 1 if there is a change, 0 if there is none, and -1 without memory. */
static int next_icon(iconcache_watch *watch) {
    struct batch *batch = &watch->batch;
    while (batch->index < batch->changed_count) {
        struct changed *changed = &batch->changed[batch->index];
        json place = apps_place(changed->apps);
        const iconcache_app *app = iconcache_apps_next(changed->apps);
        if (app == NULL) {
            iconcache_apps_free(changed->apps);
            changed->apps = NULL;
            batch->index++;
            watch->documents++;
            continue;
        }
        if (app->image == NULL) continue;
        int result = add_icon(watch, changed->list, app);
        if (result < 0) apps_return(changed->apps, place);
        if (result != 0) return result;
    }
    return 0;
}

static bool next_left_icon(iconcache_watch *watch) {
    struct batch *batch = &watch->batch;
    while (batch->index < batch->left_count) {
        struct icon *icon = batch->left[batch->index++];
        icon->is_left = false;
        if (icon->lists > 0) continue;
        icons_remove(&watch->icons, icon);
        watch->gone = icon;
        set_change(watch, ICONCACHE_ICON_GONE, NULL, icon->url, NULL);
        return true;
    }
    return false;
}

/* The next change of the batch: 1 if there is one, 0 if the batch has ended, and -1 without memory. */
static int next_change(iconcache_watch *watch) {
    struct batch *batch = &watch->batch;
    for (;;) {
        int result = 0;
        switch (batch->stage) {
        case NONE: return 0;
        case REMOVED_LISTS: result = next_removed_list(watch); break;
        case CHANGED_LISTS: result = next_changed_list(watch); break;
        case ICONS: result = next_icon(watch); break;
        case LEFT_ICONS:
            if (next_left_icon(watch)) return 1;
            free_batch(batch);
            return 0;
        }
        if (result != 0) return result;
        batch->stage++;
        batch->index = 0;
    }
}

static void free_gone(iconcache_watch *watch) {
    free(watch->gone);
    watch->gone = NULL;
}

/* MARK: The watch */

int iconcache_watch_new(const iconcache *cache, iconcache_watch **watch, iconcache_error *error) {
    if (watch != NULL) *watch = NULL;
    if (cache == NULL || watch == NULL) return report_invalid(error, "A watch needs a cache.");
    iconcache_watch *result = calloc(1, sizeof *result);
    if (result == NULL) return report_no_memory(error);
    result->cache = cache;
    result->icons.accelerated = cache->accelerated;
    result->documents = 1;
    int failure = signals_begin(&result->signals, cache->folder);
    if (failure != 0) {
        free(result);
        return report_unreadable(error, "changes", failure);
    }
    *watch = result;
    return ICONCACHE_OK;
}

void iconcache_watch_free(iconcache_watch *watch) {
    if (watch == NULL) return;
    signals_end(&watch->signals);
    free_gone(watch);
    free_batch(&watch->batch);
    free_lists(&watch->lists);
    icons_free(&watch->icons);
    free(watch);
}

int iconcache_watch_descriptor(const iconcache_watch *watch) { return watch->signals.any; }

int iconcache_watch_next(iconcache_watch *watch, const iconcache_change **change, iconcache_error *error) {
    if (change != NULL) *change = NULL;
    if (watch == NULL || change == NULL) return report_invalid(error, "There is no watch.");
    free_gone(watch);
    for (;;) {
        int result = next_change(watch);
        if (result < 0) return report_no_memory(error);
        if (result > 0) {
            *change = &watch->change;
            return ICONCACHE_OK;
        }
        int code = refresh(watch, error);
        if (code != ICONCACHE_OK) return code;
    }
}
