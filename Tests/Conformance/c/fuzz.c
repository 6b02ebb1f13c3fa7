/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives any bytes to libiconcache: as a manifest, and as a list document that a manifest names with its digest.
 *
 *     clang -std=c11 -D_GNU_SOURCE -g -O1 -fsanitize=fuzzer,address,undefined -ISources/LibIconCache \
 *         Tests/Conformance/c/fuzz.c Sources/LibIconCache/[a-z]*.c -o fuzz
 *     Tests/Conformance/c/seeds corpus && ./fuzz -max_len=8192 corpus
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "iconcache.h"
#include "sha256.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static char folder[64];
static iconcache *cache;
/* One for all inputs: to close an inotify instance takes longer than all the rest. */
static iconcache_watch *watch;

static void end(void) {
    iconcache_watch_free(watch);
    iconcache_free(cache);
    static const char *const names[] = {"/manifest.json", "/next", "/document", "/lists"};
    char path[256];
    for (size_t i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s%s", folder, names[i]);
        if (remove(path) != 0) continue;
    }
    rmdir(folder);
}

static void begin(void) {
    strcpy(folder, "/tmp/iconcache-fuzz-XXXXXX");
    char lists[128];
    if (mkdtemp(folder) == NULL) abort();
    snprintf(lists, sizeof lists, "%s/lists", folder);
    if (mkdir(lists, 0777) != 0) abort();
    if (iconcache_new(folder, &cache, NULL) != ICONCACHE_OK) abort();
    if (iconcache_watch_new(cache, &watch, NULL) != ICONCACHE_OK) abort();
    atexit(end);
}

static void write_file(const char *name, const void *bytes, size_t size) {
    char path[256], next[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(next, sizeof next, "%s/next", folder);
    FILE *file = fopen(next, "wb");
    if (file == NULL || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) abort();
    if (rename(next, path) != 0) abort();
}

static size_t length(const char *text) { return text == NULL ? 0 : strlen(text); }

/* Checks the renditions of an entry, and that the one is chosen that the header promises. */
static size_t length_of_renditions(const iconcache_app *app) {
    size_t sum = 0;
    uint32_t before = 0;
    if ((app->renditions_count == 0) != (app->renditions == NULL)) abort();
    if (app->renditions_count > 0 && app->image == NULL) abort();
    for (size_t i = 0; i < app->renditions_count; i++) {
        const iconcache_rendition *rendition = app->renditions[i];
        const iconcache_image *image = rendition->image;
        if (rendition->pixels < 8 || rendition->pixels > 4096 || rendition->pixels < before) abort();
        if (strncmp(image->path, folder, strlen(folder)) != 0 || strlen(image->sha256) != 64) abort();
        if (strcmp(image->type, "image/png") != 0) abort();
        const iconcache_image *chosen = iconcache_app_image_for_pixels(app, rendition->pixels);
        if (rendition->pixels > before && chosen != image) abort();
        before = rendition->pixels;
        sum += length(rendition->size) + length(image->path);
    }
    if (iconcache_app_image_for_pixels(app, before + 1) != app->image) abort();
    if (iconcache_app_image_for_pixels(app, 0) != app->image) abort();
    return sum;
}

static size_t length_of_app(const iconcache_app *app) {
    size_t sum = length(app->name) + length(app->id) + length(app->download) + length(app->icon) + length(app->expected)
        + length(app->previous) + length(app->previous_since) + length(app->error);
    if ((app->image != NULL) != (app->status == ICONCACHE_READY)) abort();
    sum += length_of_renditions(app);
    if (app->image == NULL) return sum;
    if (strncmp(app->image->path, folder, strlen(folder)) != 0 || strlen(app->image->sha256) != 64) abort();
    return sum + length(app->image->type);
}

static void walk(const iconcache_snapshot *snapshot, iconcache_apps *apps) {
    const iconcache_app *app;
    iconcache_error error;
    size_t sum = 0, again = 0;
    char *name = NULL, *url = NULL;
    while ((app = iconcache_apps_next(apps)) != NULL) {
        sum += length_of_app(app);
        free(name);
        free(url);
        name = app->name == NULL ? NULL : strdup(app->name);
        url = strdup(app->icon);
        if (app->image == NULL) continue;
        int file = iconcache_snapshot_open(snapshot, app->image, &error);
        if (file >= 0) close(file);
    }
    if (iconcache_apps_next(apps) != NULL) abort();
    if (name != NULL && iconcache_apps_find(apps, name) == NULL) abort();
    iconcache_apps_rewind(apps);
    while ((app = iconcache_apps_next(apps)) != NULL) again += length_of_app(app);
    if (sum != again) abort();
    if (url != NULL) {
        iconcache_apps *found;
        if (iconcache_apps_of_url(snapshot, url, &found, &error) != ICONCACHE_OK) abort();
        app = iconcache_apps_next(found);
        if (app == NULL || strcmp(app->icon, url) != 0 || iconcache_apps_next(found) != NULL) abort();
        iconcache_apps_free(found);
    }
    if (name != NULL) {
        iconcache_apps *found;
        if (iconcache_apps_of_name(snapshot, name, &found, &error) != ICONCACHE_OK) abort();
        app = iconcache_apps_next(found);
        if (app == NULL || strcmp(app->name, name) != 0) abort();
        iconcache_apps_free(found);
    }
    free(name);
    free(url);
}

static void read_all(void) {
    iconcache_snapshot *snapshot;
    iconcache_error error;
    if (iconcache_snapshot_new(cache, &snapshot, &error) != ICONCACHE_OK) return;
    const iconcache_list *list;
    for (size_t i = 0; (list = iconcache_snapshot_list(snapshot, i)) != NULL; i++) {
        iconcache_apps *apps;
        if (iconcache_apps_new(snapshot, list->name, &apps, &error) != ICONCACHE_OK) continue;
        walk(snapshot, apps);
        iconcache_apps_free(apps);
    }
    iconcache_snapshot_free(snapshot);
}

static void read_changes(void) {
    const iconcache_change *change;
    iconcache_error error;
    while (iconcache_watch_next(watch, &change, &error) == ICONCACHE_OK) {
        if ((change->list == NULL) == (change->url == NULL)) abort();
    }
}

/* Writes a manifest with one list; without any if `digits` is NULL. */
static void publish(const char *digits, const char *name) {
    char list[256] = "", text[512];
    if (digits != NULL) {
        snprintf(list, sizeof list,
            "\"%s\":{\"sha256\":\"%s\",\"apps\":1,\"ready\":1,\"pending\":0,\"failed\":0}", name, digits);
    }
    int count = snprintf(text, sizeof text,
        "{\"format\":1,\"generation\":1,\"published\":\"2026-11-21T02:44:52Z\",\"lists\":{%s}}", list);
    write_file("manifest.json", text, (size_t)count);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (cache == NULL) begin();
    publish(NULL, NULL);
    read_changes();

    write_file("manifest.json", bytes, size);
    read_all();
    read_changes();

    unsigned char digest[SHA256_SIZE], portable[SHA256_SIZE];
    char digits[SHA256_DIGITS + 1] = "", name[128];
    sha256(bytes, size, sha256_can_accelerate(), digest);
    sha256(bytes, size, false, portable);
    if (memcmp(digest, portable, sizeof digest) != 0) abort();
    sha256_write_digits(digest, digits);
    snprintf(name, sizeof name, "lists/%s.json", digits);
    write_file(name, bytes, size);
    publish(digits, "a");
    read_all();
    read_changes();
    publish(digits, "b");
    read_changes();

    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (remove(path) != 0) abort();
    return 0;
}
