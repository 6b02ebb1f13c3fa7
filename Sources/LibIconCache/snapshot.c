/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache.h"
#include "file.h"
#include "report.h"

/* The number of attempts to lock a manifest before it is read without a lock: see “The lease” in Format.md. */
enum { ATTEMPTS = 100 };

static bool lock(int file) {
    int result;
    do {
        result = flock(file, LOCK_SH | LOCK_NB);
    } while (result != 0 && errno == EINTR);
    return result == 0;
}

/* Whether the path leads to the open file; `error` is 0, or says why that is not known. */
static bool is_still_at(const char *path, int file, int *error) {
    struct stat mine, newest;
    *error = 0;
    if (fstat(file, &mine) != 0 || stat(path, &newest) != 0) {
        *error = errno;
        return false;
    }
    return mine.st_dev == newest.st_dev && mine.st_ino == newest.st_ino;
}

static int take_lease(const char *path, iconcache_snapshot *snapshot) {
    for (int attempt = 1; attempt < ATTEMPTS; attempt++) {
        int error = file_open(path, &snapshot->file);
        if (error != 0) return error;
        snapshot->is_leased = lock(snapshot->file);
        /*
         * The agent releases a generation only after a newer one has the name: a file that is locked and has the name
         * was locked in time.
         */
        if (is_still_at(path, snapshot->file, &error)) return 0;
        snapshot_end_lease(snapshot);
        if (error != 0 && !file_may_be_replaced(error)) return error;
    }
    snapshot->is_leased = false;
    return file_open(path, &snapshot->file);
}

static int read_leased(iconcache_snapshot *snapshot, unsigned char **bytes, size_t *size) {
    int error = take_lease(snapshot->cache->manifest, snapshot);
    if (error != 0) return error;
    error = file_read(snapshot->file, bytes, size);
    if (error != 0) snapshot_end_lease(snapshot);
    return error;
}

int iconcache_snapshot_new(const iconcache *cache, iconcache_snapshot **snapshot, iconcache_error *error) {
    if (snapshot != NULL) *snapshot = NULL;
    if (cache == NULL || snapshot == NULL) return report_null(error, cache == NULL ? "cache" : "snapshot");
    iconcache_snapshot *result = calloc(1, sizeof *result);
    if (result == NULL) return report_no_memory(error);
    result->cache = cache;
    result->file = -1;
    unsigned char *bytes;
    size_t size;
    int failure = read_leased(result, &bytes, &size);
    if (file_may_be_replaced(failure)) failure = read_leased(result, &bytes, &size);
    if (failure != 0) {
        free(result);
        return report_manifest(cache, failure, error);
    }
    int code = manifest_read(&result->manifest, cache->manifest, bytes, size, error);
    free(bytes);
    if (code != ICONCACHE_OK) {
        iconcache_snapshot_free(result);
        return code;
    }
    *snapshot = result;
    return ICONCACHE_OK;
}

void snapshot_end_lease(iconcache_snapshot *snapshot) {
    if (snapshot->file >= 0) file_close(snapshot->file);
    snapshot->file = -1;
}

void iconcache_snapshot_free(iconcache_snapshot *snapshot) {
    if (snapshot == NULL) return;
    snapshot_end_lease(snapshot);
    manifest_free(&snapshot->manifest);
    free(snapshot);
}

int64_t iconcache_snapshot_generation(const iconcache_snapshot *snapshot) {
    return snapshot == NULL ? -1 : snapshot->manifest.generation;
}

bool iconcache_snapshot_is_leased(const iconcache_snapshot *snapshot) {
    return snapshot != NULL && snapshot->is_leased;
}

size_t iconcache_snapshot_lists(const iconcache_snapshot *snapshot) {
    return snapshot == NULL ? 0 : snapshot->manifest.count;
}

const iconcache_list *iconcache_snapshot_list(const iconcache_snapshot *snapshot, size_t index) {
    return index < iconcache_snapshot_lists(snapshot) ? &snapshot->manifest.lists[index] : NULL;
}

int iconcache_snapshot_open(
    const iconcache_snapshot *snapshot, const iconcache_image *image, iconcache_error *error) {
    if (snapshot == NULL || image == NULL || image->path == NULL) {
        return report_null(error, snapshot == NULL ? "snapshot" : image == NULL ? "image" : "image->path");
    }
    const iconcache *cache = snapshot->cache;
    bool is_inside = strncmp(image->path, cache->prefix, cache->size) == 0
        && strncmp(image->path + cache->size, "/icons/", 7) == 0;
    if (!is_inside) return report_invalid(error, "%s is no image of the cache in %s.", image->path, cache->folder);
    int file;
    int failure = file_open_beneath(cache->folder, image->path + cache->size + 1, &file);
    return failure == 0 ? file : report_unreadable(error, image->path, failure);
}
