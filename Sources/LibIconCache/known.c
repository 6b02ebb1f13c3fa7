/* SPDX-License-Identifier: Apache-2.0 */
#include "known.h"

#include <stdlib.h>
#include <string.h>

#include "report.h"

static const size_t no_change = SIZE_MAX;

/* MARK: Lists */

struct list *lists_find(const struct lists *lists, const char *name) {
    size_t low = 0, high = lists->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(name, lists->all[middle]->name);
        if (order == 0) return lists->all[middle];
        if (order < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return NULL;
}

static void close_document(struct list *list) {
    iconcache_apps_free(list->apps);
    free(list->places);
    list->apps = NULL;
    list->places = NULL;
}

static void free_list(struct list *list) {
    close_document(list);
    free(list->name);
    free(list->claims);
    free(list);
}

/* NULL without memory. */
static struct list *make_list(const iconcache_list *source) {
    struct list *list = calloc(1, sizeof *list);
    if (list == NULL) return NULL;
    list->is_new = true;
    list->name = strdup(source->name);
    if (list->name == NULL) {
        free_list(list);
        return NULL;
    }
    memcpy(list->sha256, source->sha256, sizeof list->sha256);
    return list;
}

/* Makes the lists of a generation. Those that are known are the same objects; the others have no claims yet. */
static bool make_lists(const struct known *known, const iconcache_snapshot *snapshot, struct lists *lists) {
    size_t count = iconcache_snapshot_lists(snapshot);
    lists->all = calloc(count + 1, sizeof(struct list *));
    if (lists->all == NULL) return false;
    for (size_t i = 0; i < count; i++) {
        const iconcache_list *source = iconcache_snapshot_list(snapshot, i);
        struct list *list = lists_find(&known->lists, source->name);
        if (list == NULL || strcmp(list->sha256, source->sha256) != 0) list = make_list(source);
        if (list == NULL) return false;
        lists->all[lists->count++] = list;
    }
    return true;
}

/* Finds the lists that are in the generation no more. */
static bool find_gone(const struct known *known, const struct lists *lists, struct batch *batch) {
    batch->gone = calloc(known->lists.count + 1, sizeof(struct list *));
    if (batch->gone == NULL) return false;
    for (int is_changed = 0; is_changed < 2; is_changed++) {
        for (size_t i = 0; i < known->lists.count; i++) {
            struct list *list = known->lists.all[i];
            const struct list *newest = lists_find(lists, list->name);
            if (newest == list || (newest != NULL) != (is_changed != 0)) continue;
            list->is_gone = true;
            batch->gone[batch->count++] = list;
            if (newest == NULL) batch->removed++;
        }
    }
    return true;
}

/* MARK: Claims */

static bool make_room(struct list *list) {
    if (list->count < list->capacity) return true;
    size_t capacity = list->capacity == 0 ? 16 : 2 * list->capacity;
    struct claim *claims = reallocarray(list->claims, capacity, sizeof *claims);
    if (claims == NULL) return false;
    list->claims = claims;
    json *places = reallocarray(list->places, capacity, sizeof *places);
    if (places == NULL) return false;
    list->places = places;
    list->capacity = capacity;
    return true;
}

static int rank(const iconcache_app *app) { return app->previous == NULL ? 3 : 2; }

/* Adds what an entry with an image says; false without memory. */
static bool add_claim(struct known *known, struct list *list, const iconcache_app *app, json place) {
    struct icon *icon = icons_find(&known->icons, app->icon);
    bool is_repeated = icon != NULL && icon->mark == known->marks;
    if (is_repeated && list->claims[icon->index].rank >= rank(app)) return true;
    if (!is_repeated) {
        if (!make_room(list)) return false;
        if (icon == NULL) icon = icons_add(&known->icons, app->icon);
        if (icon == NULL) return false;
        icon->mark = known->marks;
        icon->index = list->count++;
        icon->lists++;
    }
    struct claim *claim = &list->claims[icon->index];
    *claim = (struct claim){.icon = icon, .list = list, .rank = rank(app)};
    sha256_read_digits(app->image->sha256, claim->image);
    list->places[icon->index] = place;
    return true;
}

/* Reads the document of a new list. */
static int read_claims(
    struct known *known, const iconcache_snapshot *snapshot, struct list *list, iconcache_error *error) {
    int code = iconcache_apps_new(snapshot, list->name, &list->apps, error);
    if (code != ICONCACHE_OK) return code;
    known->marks++;
    for (;;) {
        json place = apps_place(list->apps);
        const iconcache_app *app = iconcache_apps_next(list->apps);
        if (app == NULL) break;
        if (app->image != NULL && !add_claim(known, list, app, place)) return report_no_memory(error);
    }
    struct claim *claims = list->count == 0 ? NULL : reallocarray(list->claims, list->count, sizeof *claims);
    if (claims != NULL) {
        list->claims = claims;
        list->capacity = list->count;
    }
    return ICONCACHE_OK;
}

/* Reads the document of a known list once more, to find the images that other lists have left to it. */
static int find_places(
    const struct known *known, const struct batch *batch, const iconcache_snapshot *snapshot, struct list *list,
    iconcache_error *error) {
    int code = iconcache_apps_new(snapshot, list->name, &list->apps, error);
    if (code != ICONCACHE_OK) return code;
    list->places = calloc(list->count, sizeof *list->places);
    if (list->places == NULL) return report_no_memory(error);
    for (;;) {
        json place = apps_place(list->apps);
        const iconcache_app *app = iconcache_apps_next(list->apps);
        if (app == NULL) return ICONCACHE_OK;
        if (app->image == NULL) continue;
        const struct icon *icon = icons_find(&known->icons, app->icon);
        if (icon == NULL || icon->mark != known->marks || icon->index == no_change) continue;
        const struct claim *claim = batch->changes[icon->index].claim;
        if (claim == NULL || claim->list != list || claim->rank != rank(app)) continue;
        json *found = &list->places[claim - list->claims];
        /* The first such entry counts. */
        if (found->next == NULL) *found = place;
    }
}

static void link_claims(const struct lists *lists) {
    for (size_t i = 0; i < lists->count; i++) {
        struct list *list = lists->all[i];
        for (size_t j = 0; list->is_new && j < list->count; j++) {
            struct claim *claim = &list->claims[j];
            claim->next = claim->icon->claims;
            claim->icon->claims = claim;
        }
    }
}

/* Undoes link_claims(), in the opposite order. */
static void unlink_claims(const struct lists *lists) {
    for (size_t i = lists->count; i-- > 0;) {
        struct list *list = lists->all[i];
        for (size_t j = list->count; list->is_new && j-- > 0;) list->claims[j].icon->claims = list->claims[j].next;
    }
}

static void unlink_gone_claims(struct icon *icon) {
    struct claim **place = &icon->claims;
    while (*place != NULL) {
        if ((*place)->list->is_gone) {
            *place = (*place)->next;
        } else {
            place = &(*place)->next;
        }
    }
}

/* MARK: Changes of icons */

/* The claim that counts; NULL if there is none. */
static const struct claim *best_claim(const struct icon *icon) {
    const struct claim *best = NULL;
    for (const struct claim *claim = icon->claims; claim != NULL; claim = claim->next) {
        if (claim->list->is_gone) continue;
        bool is_better = best == NULL || claim->rank > best->rank
            || (claim->rank == best->rank && strcmp(claim->list->name, best->list->name) < 0);
        if (is_better) best = claim;
    }
    return best;
}

/* Adds the change of an icon, if it is one; false without memory. */
static bool add_change(
    struct known *known, struct batch *batch, struct icon *icon, const struct claim *claim) {
    icon->mark = known->marks;
    icon->index = no_change;
    bool is_same = claim != NULL && icon->has_image && memcmp(icon->image, claim->image, sizeof icon->image) == 0;
    if (is_same) return true;
    if (batch->changes_count == batch->capacity) {
        size_t capacity = batch->capacity == 0 ? 16 : 2 * batch->capacity;
        struct icon_change *changes = reallocarray(batch->changes, capacity, sizeof *changes);
        if (changes == NULL) return false;
        batch->changes = changes;
        batch->capacity = capacity;
    }
    iconcache_change_kind kind = claim == NULL ? ICONCACHE_ICON_GONE
        : icon->has_image ? ICONCACHE_ICON_REPLACED : ICONCACHE_ICON_READY;
    icon->index = batch->changes_count;
    batch->changes[batch->changes_count++] = (struct icon_change){.kind = kind, .icon = icon, .claim = claim};
    return true;
}

enum which { ALL, STAYING, GONE };

/* Finds the changes of the icons of a list: of those that have an image still, of those that have none, or of all. */
static bool add_changes(struct known *known, struct batch *batch, const struct list *list, enum which which) {
    for (size_t i = 0; i < list->count; i++) {
        struct icon *icon = list->claims[i].icon;
        if (icon->mark == known->marks) continue;
        const struct claim *claim = best_claim(icon);
        bool is_wanted = which == ALL || (which == GONE) == (claim == NULL);
        if (is_wanted && !add_change(known, batch, icon, claim)) return false;
    }
    return true;
}

/* Each icon has one change at most: at its first place in this order. */
static bool compare(struct known *known, const struct lists *lists, struct batch *batch) {
    known->marks++;
    for (size_t i = 0; i < lists->count; i++) {
        if (lists->all[i]->is_new && !add_changes(known, batch, lists->all[i], ALL)) return false;
    }
    for (size_t i = 0; i < batch->count; i++) {
        if (!add_changes(known, batch, batch->gone[i], STAYING)) return false;
    }
    for (size_t i = 0; i < batch->count; i++) {
        if (!add_changes(known, batch, batch->gone[i], GONE)) return false;
    }
    return true;
}

/* MARK: Generations */

/* Compares a generation whose lists were read with what is known. */
static int make_changes(
    struct known *known, const struct lists *lists, const iconcache_snapshot *snapshot, struct batch *batch,
    iconcache_error *error) {
    if (!compare(known, lists, batch)) return report_no_memory(error);
    for (size_t i = 0; i < batch->changes_count; i++) {
        const struct claim *claim = batch->changes[i].claim;
        if (claim == NULL || claim->list->apps != NULL) continue;
        int code = find_places(known, batch, snapshot, claim->list, error);
        if (code != ICONCACHE_OK) return code;
    }
    return ICONCACHE_OK;
}

static void commit(struct known *known, const struct lists *lists, const struct batch *batch) {
    known->marks++;
    for (size_t i = 0; i < batch->count; i++) {
        const struct list *list = batch->gone[i];
        for (size_t j = 0; j < list->count; j++) {
            struct icon *icon = list->claims[j].icon;
            icon->lists--;
            if (icon->mark != known->marks) unlink_gone_claims(icon);
            icon->mark = known->marks;
        }
    }
    for (size_t i = 0; i < batch->changes_count; i++) {
        const struct icon_change *change = &batch->changes[i];
        if (change->claim == NULL) {
            icons_remove(&known->icons, change->icon);
        } else {
            change->icon->has_image = true;
            memcpy(change->icon->image, change->claim->image, sizeof change->icon->image);
        }
    }
    free(known->lists.all);
    known->lists = *lists;
}

/* Frees the new lists, and the icons that only they name. */
static void roll_back(struct known *known, const struct lists *lists, struct batch *batch) {
    for (size_t i = 0; i < lists->count; i++) {
        struct list *list = lists->all[i];
        close_document(list);
        if (!list->is_new) continue;
        for (size_t j = 0; j < list->count; j++) {
            struct icon *icon = list->claims[j].icon;
            if (--icon->lists > 0) continue;
            icons_remove(&known->icons, icon);
            free(icon);
        }
        free_list(list);
    }
    free(lists->all);
    for (size_t i = 0; i < batch->count; i++) batch->gone[i]->is_gone = false;
    free(batch->gone);
    free(batch->changes);
    *batch = (struct batch){0};
}

int known_advance(
    struct known *known, const iconcache_snapshot *snapshot, struct batch *batch, iconcache_error *error) {
    struct lists lists = {0};
    *batch = (struct batch){0};
    int code = ICONCACHE_OK;
    if (!make_lists(known, snapshot, &lists) || !find_gone(known, &lists, batch)) code = report_no_memory(error);
    for (size_t i = 0; code == ICONCACHE_OK && i < lists.count; i++) {
        if (lists.all[i]->is_new) code = read_claims(known, snapshot, lists.all[i], error);
    }
    if (code == ICONCACHE_OK) {
        link_claims(&lists);
        code = make_changes(known, &lists, snapshot, batch, error);
        if (code == ICONCACHE_OK) {
            commit(known, &lists, batch);
            return code;
        }
        unlink_claims(&lists);
    }
    roll_back(known, &lists, batch);
    return code;
}

void known_end_batch(struct known *known, struct batch *batch) {
    for (size_t i = 0; i < known->lists.count; i++) {
        close_document(known->lists.all[i]);
        known->lists.all[i]->is_new = false;
    }
    for (size_t i = 0; i < batch->changes_count; i++) {
        if (batch->changes[i].claim == NULL) free(batch->changes[i].icon);
    }
    for (size_t i = 0; i < batch->count; i++) free_list(batch->gone[i]);
    free(batch->gone);
    free(batch->changes);
    *batch = (struct batch){0};
}

void known_free(struct known *known) {
    for (size_t i = 0; i < known->lists.count; i++) free_list(known->lists.all[i]);
    free(known->lists.all);
    icons_free(&known->icons);
    *known = (struct known){0};
}
