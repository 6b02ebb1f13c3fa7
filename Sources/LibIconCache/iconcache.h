/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the cache of icons that syncagent keeps on disk: iconcache(3).
 *
 * Reading needs no running agent, no network and no write permission. The library starts no thread, keeps no global
 * state, prints nothing, and never ends the program. Different threads may use one `iconcache` at once; each of the
 * other objects is for one thread at a time. Texts are UTF-8; U+0000 in one is given as U+FFFD.
 *
 * Every function accepts NULL in place of any pointer. Those that return a result return ICONCACHE_INVALID then, unless
 * NULL means something: for `folder`, and for `error`. The others do nothing, or return NULL, false, 0, or -1 for a
 * number that can be 0. If a function fails, the pointer that it would set becomes NULL.
 */
#ifndef ICONCACHE_H
#define ICONCACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ICONCACHE_API __attribute__((visibility("default")))
#else
#define ICONCACHE_API
#endif

/*
 * The version of this header. A number grows with each version, so that programs can compare it:
 *
 *     #if ICONCACHE_VERSION >= 10000
 */
#define ICONCACHE_VERSION_MAJOR 1
#define ICONCACHE_VERSION_MINOR 0
#define ICONCACHE_VERSION_PATCH 0
#define ICONCACHE_VERSION \
    (ICONCACHE_VERSION_MAJOR * 10000 + ICONCACHE_VERSION_MINOR * 100 + ICONCACHE_VERSION_PATCH)

/* The version of the library that the program runs with, as a number like ICONCACHE_VERSION. */
ICONCACHE_API uint32_t iconcache_version(void);

/* Results of functions that return `int`: 0, a descriptor, or one of these, which are below 0. */
enum {
    ICONCACHE_OK = 0,
    ICONCACHE_ABSENT = -1,         /* there is none: no image, no such list, no further entry or change */
    ICONCACHE_NO_CACHE = -2,       /* nothing was ever published in the folder */
    ICONCACHE_UNREADABLE = -3,     /* a file cannot be opened or read: `system_error` says why */
    ICONCACHE_DAMAGED = -4,        /* the contents of a file are not what they should be */
    ICONCACHE_UNKNOWN_FORMAT = -5, /* a file has a later format than this version of the library reads */
    ICONCACHE_NO_MEMORY = -6,
    ICONCACHE_INVALID = -7         /* an argument is not usable */
};

/* Why a call failed. Functions that take one accept NULL, and set it only if the result is below 0. */
typedef struct iconcache_error {
    int code;           /* the result */
    int system_error;   /* errno(3) of ICONCACHE_UNREADABLE, otherwise 0 */
    char message[1016]; /* a sentence that names the file, or what there is not */
} iconcache_error;

/* MARK: The cache, and images by URL */

/* A cache folder. */
typedef struct iconcache iconcache;

/*
 * Names a cache. Nothing is opened yet, and the folder need not exist: each call reads it as it is at that moment.
 *
 * `folder` may be relative to the current directory of this call. If it is NULL, it is the user's own cache,
 * `$XDG_CACHE_HOME/syncagent` or else `~/.cache/syncagent`; if that does not exist, but the system's
 * `/var/cache/syncagent` does, it is that one.
 */
ICONCACHE_API int iconcache_new(const char *folder, iconcache **cache, iconcache_error *error);
ICONCACHE_API void iconcache_free(iconcache *cache);

/* The cache folder, as an absolute path. */
ICONCACHE_API const char *iconcache_folder(const iconcache *cache);

/*
 * Writes the absolute path of a URL's image to `path`, in some microseconds.
 *
 * The path stays the same over every refresh, and always leads to a complete image. A refresh can replace the image at
 * any time, and a retirement can remove it. A file that is open stays readable. To read several images of one state,
 * take a snapshot.
 *
 * `url` is spelled exactly as in the app list. `size` is that of the buffer; iconcache_path_size() is always enough.
 * Results: ICONCACHE_ABSENT if the icon has no image yet, or no app list names it; ICONCACHE_NO_CACHE, or
 * ICONCACHE_DAMAGED if only the manifest is missing; ICONCACHE_UNREADABLE; ICONCACHE_INVALID, also if the buffer is too
 * small. `path` is empty then.
 *
 * If there is no image, the message of `error` says why: the image was not downloaded yet, or could not be, or no list
 * names the URL. To know that, the lists are read, if they have 1,000 entries at most: in a millisecond or two. Where
 * absence is usual, pass NULL, and nothing is read.
 */
ICONCACHE_API int iconcache_path(
    const iconcache *cache, const char *url, char *path, size_t size, iconcache_error *error);
ICONCACHE_API size_t iconcache_path_size(const iconcache *cache);

/*
 * The same, but writes `placeholder` if there is no image, for whatever reason. The result is that of iconcache_path();
 * ICONCACHE_INVALID also says that the placeholder did not fit, and that `path` is empty.
 */
ICONCACHE_API int iconcache_path_or(
    const iconcache *cache, const char *url, const char *placeholder, char *path, size_t size, iconcache_error *error);

/*
 * Opens a URL's image for reading, below the cache folder: a link that leads out of it is not followed.
 *
 * Returns a descriptor, which the caller closes, or a result below 0: one of iconcache_path(), or ICONCACHE_DAMAGED if
 * there is such a link, or no regular file.
 */
ICONCACHE_API int iconcache_open(const iconcache *cache, const char *url, iconcache_error *error);

/*
 * The same as iconcache_path() and iconcache_open() for an image that is to be shown in so many pixels: the smallest
 * rendition that was made for at least as many, or if there is none, the image itself. 0 stands for the image itself. A
 * rendition that cannot be read counts as missing.
 *
 * When an image was replaced, the renditions of the one before can stay for some seconds. The path of a rendition does
 * not stay the same: the agent may render other sizes later. The buffer has iconcache_path_size() bytes at least,
 * unless `pixels` is 0.
 */
ICONCACHE_API int iconcache_path_for_pixels(
    const iconcache *cache, const char *url, uint32_t pixels, char *path, size_t size, iconcache_error *error);
ICONCACHE_API int iconcache_open_for_pixels(
    const iconcache *cache, const char *url, uint32_t pixels, iconcache_error *error);

/* MARK: Snapshots */

/*
 * One generation of a cache under a lease: the documents and images that its manifest names stay until it is freed.
 *
 * It keeps one file open, and superseded files on disk: for a day at most, then the agent removes them anyway.
 */
typedef struct iconcache_snapshot iconcache_snapshot;

/* Reads the newest manifest, and takes a lease on it. The cache must outlive the snapshot. */
ICONCACHE_API int iconcache_snapshot_new(
    const iconcache *cache, iconcache_snapshot **snapshot, iconcache_error *error);
ICONCACHE_API void iconcache_snapshot_free(iconcache_snapshot *snapshot);

/* The number of the generation, which grows with each publication. */
ICONCACHE_API int64_t iconcache_snapshot_generation(const iconcache_snapshot *snapshot);

/*
 * Whether the lease is held. It is not on the few file systems without locks, or if another program has an exclusive
 * lock on the manifest; then the files stay for the grace period after the generation is superseded: 10 minutes by
 * default.
 */
ICONCACHE_API bool iconcache_snapshot_is_leased(const iconcache_snapshot *snapshot);

/* An app list. Later versions of the library may add members at the end. */
typedef struct iconcache_list {
    const char *name;   /* its file name, such as apps.plist */
    const char *sha256; /* the digest of its document, in hexadecimal: another one if any entry differs */
    uint64_t apps, ready, pending, failed;
} iconcache_list;

/* The app lists, sorted by the bytes of their names, and their number. NULL beyond the last one. */
ICONCACHE_API size_t iconcache_snapshot_lists(const iconcache_snapshot *snapshot);
ICONCACHE_API const iconcache_list *iconcache_snapshot_list(const iconcache_snapshot *snapshot, size_t index);

/* MARK: Entries */

typedef enum iconcache_status { ICONCACHE_PENDING, ICONCACHE_READY, ICONCACHE_FAILED } iconcache_status;

/* An image on disk, which never changes. Later versions of the library may add members at the end. */
typedef struct iconcache_image {
    const char *path;   /* absolute */
    const char *sha256; /* in hexadecimal */
    const char *type;   /* such as image/png */
    uint64_t bytes;
    uint32_t width, height; /* in pixels; UINT32_MAX also stands for more */
} iconcache_image;

/* An image made for a size. Later versions of the library may add members at the end. */
typedef struct iconcache_rendition {
    const char *size; /* such as 64, or 64@2 for 64 at a scale of 2 */
    uint32_t pixels;  /* the longer side that it was made for: 128 for 64@2; that of the image can be shorter */
    const iconcache_image *image;
} iconcache_rendition;

/* An entry of a list. Texts are NULL if there is none. Later versions of the library may add members at the end. */
typedef struct iconcache_app {
    const char *name, *id, *download; /* as in the list */
    const char *icon;                 /* the URL */
    const char *expected;             /* the digest that the list gives for the image */
    iconcache_status status;
    const iconcache_image *image;     /* NULL unless ready */
    const char *previous;             /* the URL that the image came from, if the icon itself has none yet */
    const char *previous_since;       /* since when it has none, as in RFC 3339 */
    const char *error;                /* why there is no image of the icon's URL, such as http-404 */
    size_t renditions_count;
    const iconcache_rendition *const *renditions; /* those of the image, the smallest first; NULL if there is none */
} iconcache_app;

/* The entries of a document, one after the other. */
typedef struct iconcache_apps iconcache_apps;

/*
 * Reads the document of a list, and checks it against its digest. The snapshot must outlive it.
 *
 * Results: ICONCACHE_ABSENT if there is no such list.
 */
ICONCACHE_API int iconcache_apps_new(
    const iconcache_snapshot *snapshot, const char *list, iconcache_apps **apps, iconcache_error *error);

/*
 * Looks for the entry of a URL in all lists, and gives it as the only one.
 *
 * Entries with the icon's own image come first, then those with a previous one, then those without an image; among
 * equals, the first list by name counts. Results: ICONCACHE_ABSENT if no list names the URL.
 */
ICONCACHE_API int iconcache_apps_of_url(
    const iconcache_snapshot *snapshot, const char *url, iconcache_apps **apps, iconcache_error *error);

/*
 * Looks for the entries of a name in all lists, and gives all of them.
 *
 * Apps may share a name. Entries with the icon's own image come first, then those with a previous one, then those
 * without an image; among equals, the order is that of the lists by name, then of the entries in a list. So the first
 * one is that of `syncagent path --app`. Names are compared byte for byte. Results: ICONCACHE_ABSENT if no list has an
 * app of that name.
 */
ICONCACHE_API int iconcache_apps_of_name(
    const iconcache_snapshot *snapshot, const char *name, iconcache_apps **apps, iconcache_error *error);
ICONCACHE_API void iconcache_apps_free(iconcache_apps *apps);

/*
 * The next entry, in the order of the list or of the look-up; NULL after the last one. It is valid until the next call
 * with these entries.
 */
ICONCACHE_API const iconcache_app *iconcache_apps_next(iconcache_apps *apps);

/* Begins with the first entry again. */
ICONCACHE_API void iconcache_apps_rewind(iconcache_apps *apps);

/* The first entry of that name, from the beginning; NULL if there is none. The next one follows it. */
ICONCACHE_API const iconcache_app *iconcache_apps_find(iconcache_apps *apps, const char *name);

/*
 * The image of an entry that is to be shown in so many pixels, counted on the longer side: the smallest rendition that
 * was made for at least as many, or if there is none, the image itself. 0 stands for the image itself. NULL unless the
 * entry is ready.
 */
ICONCACHE_API const iconcache_image *iconcache_app_image_for_pixels(const iconcache_app *app, uint32_t pixels);

/*
 * Opens the image of an entry or of a change, or a rendition, for reading, below the cache folder: a link that leads
 * out of it is not followed. It need not be one of this snapshot, but of the same cache: otherwise the result is
 * ICONCACHE_INVALID.
 *
 * Returns a descriptor, which the caller closes, or a result below 0: ICONCACHE_UNREADABLE with ENOENT if the file was
 * removed, because no lease keeps it.
 */
ICONCACHE_API int iconcache_snapshot_open(
    const iconcache_snapshot *snapshot, const iconcache_image *image, iconcache_error *error);

/* MARK: Changes */

typedef enum iconcache_change_kind {
    ICONCACHE_LIST_ADDED,
    ICONCACHE_LIST_CHANGED, /* its entries, their order, or the state of one */
    ICONCACHE_LIST_REMOVED,
    ICONCACHE_ICON_READY,    /* it had no image, and has one now */
    ICONCACHE_ICON_REPLACED, /* it has another image */
    ICONCACHE_ICON_GONE      /* it is in no list now, or lost its image */
} iconcache_change_kind;

/* Later versions of the library may add members at the end, and kinds. */
typedef struct iconcache_change {
    iconcache_change_kind kind;
    const char *list;             /* of a list, otherwise NULL */
    const char *url;              /* of an icon, otherwise NULL */
    const iconcache_image *image; /* of an icon that has one, otherwise NULL */
} iconcache_change;

/*
 * The changes of a cache. The first ones describe its state as if everything had just been added.
 *
 * It holds no lease. The image of a change stays for the grace period after the last generation that names it was
 * superseded: 10 minutes by default.
 */
typedef struct iconcache_watch iconcache_watch;

/* Watches a cache, which must outlive the watch, and need not exist yet. */
ICONCACHE_API int iconcache_watch_new(const iconcache *cache, iconcache_watch **watch, iconcache_error *error);
ICONCACHE_API void iconcache_watch_free(iconcache_watch *watch);

/*
 * A descriptor to be polled for input, which the library closes. Call iconcache_watch_next() as long as it returns
 * ICONCACHE_OK; then poll, and begin again. Call it before the first poll(2), too: the state at the beginning does not
 * make the descriptor readable.
 *
 * It is readable at once after a publication, by inotify(7), and otherwise every two seconds: some file systems report
 * nothing.
 */
ICONCACHE_API int iconcache_watch_descriptor(const iconcache_watch *watch);

/*
 * Gives the next change, without waiting; it is valid until the next call with this watch.
 *
 * A publication yields at most one change for each list and each URL: removed lists, then other lists by name, then
 * images in the order of their lists, then icons that are gone. If lists give one icon different images, its image is
 * that of the entry that counts: see iconcache_apps_of_url(). States that were superseded before they were read are
 * left out. While there is no cache nothing changes.
 *
 * Results: ICONCACHE_ABSENT if there is no further change for now. Another error is returned once; then the result is
 * ICONCACHE_ABSENT until there is another manifest, or two seconds have passed, and the next call tries again. No
 * change is lost by an error.
 */
ICONCACHE_API int iconcache_watch_next(
    iconcache_watch *watch, const iconcache_change **change, iconcache_error *error);

#ifdef __cplusplus
}
#endif

#endif
