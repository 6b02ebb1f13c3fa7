/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "absence.h"
#include "cache.h"
#include "file.h"
#include "names.h"
#include "report.h"
#include "sha256.h"

static const char system_folder[] = "/var/cache/syncagent";

uint32_t iconcache_version(void) { return ICONCACHE_VERSION; }

/* MARK: The folder */

/* Joins two paths, or copies the first one if the second is NULL. The caller frees the result. */
static char *joined(const char *path, const char *rest) {
    size_t size = strlen(path) + 1 + (rest == NULL ? 0 : strlen(rest)) + 1;
    char *result = malloc(size);
    if (result == NULL) return NULL;
    snprintf(result, size, "%s%s%s", path, rest == NULL ? "" : "/", rest == NULL ? "" : rest);
    return result;
}

static bool exists(const char *path) {
    struct stat status;
    return stat(path, &status) == 0;
}

/* The XDG Base Directory Specification says to ignore relative paths in these variables. */
static const char *variable(const char *name) {
    const char *value = getenv(name);
    return value != NULL && value[0] == '/' ? value : NULL;
}

static char *default_folder(void) {
    const char *base = variable("XDG_CACHE_HOME"), *home = variable("HOME");
    if (base == NULL && home == NULL) return joined(system_folder, NULL);
    char *own = base != NULL ? joined(base, "syncagent") : joined(home, ".cache/syncagent");
    if (own == NULL || exists(own) || !exists(system_folder)) return own;
    free(own);
    return joined(system_folder, NULL);
}

/* Makes a folder's path absolute; returns an errno(3) number. The caller frees the result. */
static int absolute_folder(const char *folder, char **result) {
    if (folder == NULL) {
        *result = default_folder();
    } else if (folder[0] == '/') {
        *result = joined(folder, NULL);
    } else {
        char *here = getcwd(NULL, 0);
        if (here == NULL) return errno;
        /* The current directory is on a file system that was unmounted, or is outside the root: getcwd(3). */
        int error = here[0] == '/' ? 0 : ENOENT;
        *result = error == 0 ? joined(here, folder) : NULL;
        free(here);
        if (error != 0) return error;
    }
    return *result == NULL ? ENOMEM : 0;
}

/* Removes slashes that mean nothing. */
static void simplify(char *path) {
    size_t length = 0;
    for (const char *p = path; *p != '\0'; p++) {
        bool is_surplus = *p == '/' && length > 0 && path[length - 1] == '/';
        if (!is_surplus) path[length++] = *p;
    }
    if (length > 1 && path[length - 1] == '/') length--;
    path[length] = '\0';
}

int iconcache_new(const char *folder, iconcache **cache, iconcache_error *error) {
    if (cache != NULL) *cache = NULL;
    if (cache == NULL) return report_null(error, "cache");
    if (folder != NULL && folder[0] == '\0') {
        return report_invalid(error, "The cache folder has an empty name. NULL stands for the default one.");
    }
    iconcache *result = calloc(1, sizeof *result);
    if (result == NULL) return report_no_memory(error);
    int failure = absolute_folder(folder, &result->folder);
    if (failure != 0) {
        iconcache_free(result);
        return report_unreadable(error, "the current directory", failure);
    }
    simplify(result->folder);
    result->prefix = joined(strcmp(result->folder, "/") == 0 ? "" : result->folder, NULL);
    result->manifest = result->prefix == NULL ? NULL : joined(result->prefix, "manifest.json");
    if (result->manifest == NULL) {
        iconcache_free(result);
        return report_no_memory(error);
    }
    result->size = strlen(result->prefix);
    result->accelerated = sha256_can_accelerate();
    *cache = result;
    return ICONCACHE_OK;
}

void iconcache_free(iconcache *cache) {
    if (cache == NULL) return;
    free(cache->folder);
    free(cache->prefix);
    free(cache->manifest);
    free(cache);
}

const char *iconcache_folder(const iconcache *cache) { return cache == NULL ? NULL : cache->folder; }

/* MARK: A missing manifest */

/* The number of a file in generations/; -1 for any other name. */
static int64_t generation_number(const char *name) {
    char *end;
    if (name[0] < '0' || name[0] > '9') return -1;
    errno = 0;
    long long number = strtoll(name, &end, 10);
    bool is_usual = errno == 0 && number <= INT64_C(1) << 53 && strcmp(end, ".json") == 0
        && (name[0] != '0' || end == name + 1);
    return is_usual ? number : -1;
}

/* The highest number in generations/; -1 if there is none. */
static int64_t newest_generation(const iconcache *cache) {
    char *path = joined(cache->prefix, "generations");
    DIR *folder = path == NULL ? NULL : opendir(path);
    free(path);
    int64_t newest = -1;
    if (folder == NULL) return newest;
    const struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) {
        int64_t number = generation_number(entry->d_name);
        if (number > newest) newest = number;
    }
    closedir(folder);
    return newest;
}

int report_manifest(const iconcache *cache, int system_error, iconcache_error *error) {
    if (!file_is_absence(system_error)) return report_unreadable(error, cache->manifest, system_error);
    int64_t newest = newest_generation(cache);
    if (newest < 0) return report_no_cache(error, cache->folder);
    char reason[80];
    snprintf(reason, sizeof reason, "it is missing, although generation %" PRId64 " is there", newest);
    return report_damaged(error, cache->manifest, reason);
}

/* MARK: Images by URL */

size_t iconcache_path_size(const iconcache *cache) { return cache == NULL ? 0 : names_size(cache); }

/* Tries a name: the last one is that in by-url/, those before are of renditions. Returns 0, or an errno(3) number. */
typedef int attempt(const iconcache *cache, const char *path, bool is_last, int *file);

/* Finds the first of the names that `try` accepts; `path` is empty if there is none. */
static int find(
    const iconcache *cache, const char *url, uint32_t pixels, attempt *try, char *path, int *file,
    iconcache_error *error) {
    struct names names;
    int failure = 0;
    bool is_found = false;
    names_begin(&names, cache, url, pixels, path);
    while (failure == 0 && !is_found && names_next(&names, path)) {
        failure = try(cache, path, names.is_done, file);
        is_found = failure == 0;
        /* A rendition that cannot be used takes no image away. */
        if (file_is_absence(failure) || !(names.is_done || file_is_shortage(failure))) failure = 0;
    }
    names_end(&names);
    if (is_found) return ICONCACHE_OK;
    int code = failure == 0 ? report_no_image(cache, url, error) : report_unreadable(error, path, failure);
    path[0] = '\0';
    return code;
}

static int look(const iconcache *cache, const char *path, bool is_last, int *file) {
    (void)cache;
    (void)file;
    struct stat status;
    if (stat(path, &status) != 0) return errno;
    return is_last || S_ISREG(status.st_mode) ? 0 : FILE_IS_NONE;
}

static int open_beneath(const iconcache *cache, const char *path, bool is_last, int *file) {
    (void)is_last;
    path += cache->size + 1;
    int failure = file_open_beneath(cache->folder, path, file);
    /* On file systems of several hosts, the name of an image can vanish for the moment in which it is replaced. */
    return file_may_be_replaced(failure) ? file_open_beneath(cache->folder, path, file) : failure;
}

int iconcache_path_for_pixels(
    const iconcache *cache, const char *url, uint32_t pixels, char *path, size_t size, iconcache_error *error) {
    if (path != NULL && size > 0) path[0] = '\0';
    if (cache == NULL || url == NULL || path == NULL) {
        return report_null(error, cache == NULL ? "cache" : url == NULL ? "url" : "path");
    }
    size_t needed = pixels == 0 ? names_size_by_url(cache) : names_size(cache);
    if (size < needed) {
        return report_invalid(error, "The buffer has %zu bytes, and the path needs %zu.", size, needed);
    }
    return find(cache, url, pixels, look, path, NULL, error);
}

int iconcache_path(const iconcache *cache, const char *url, char *path, size_t size, iconcache_error *error) {
    return iconcache_path_for_pixels(cache, url, 0, path, size, error);
}

int iconcache_path_or(
    const iconcache *cache, const char *url, const char *placeholder, char *path, size_t size, iconcache_error *error) {
    int code = iconcache_path(cache, url, path, size, error);
    if (code == ICONCACHE_OK) return code;
    if (placeholder == NULL || path == NULL) return report_null(error, placeholder == NULL ? "placeholder" : "path");
    size_t needed = strlen(placeholder) + 1;
    if (needed > size) {
        return report_invalid(error, "The buffer has %zu bytes, and the placeholder needs %zu.", size, needed);
    }
    memcpy(path, placeholder, needed);
    return code;
}

int iconcache_open_for_pixels(const iconcache *cache, const char *url, uint32_t pixels, iconcache_error *error) {
    if (cache == NULL || url == NULL) return report_null(error, cache == NULL ? "cache" : "url");
    char *path = malloc(names_size(cache));
    if (path == NULL) return report_no_memory(error);
    int file = -1;
    int code = find(cache, url, pixels, open_beneath, path, &file, error);
    free(path);
    return code == ICONCACHE_OK ? file : code;
}

int iconcache_open(const iconcache *cache, const char *url, iconcache_error *error) {
    return iconcache_open_for_pixels(cache, url, 0, error);
}
