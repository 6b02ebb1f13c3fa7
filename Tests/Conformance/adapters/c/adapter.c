/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers the questions of the conformance suite with libiconcache: see Conformance.md.
 *
 *     cc -std=c11 -D_GNU_SOURCE -ISources/LibIconCache Tests/Conformance/adapters/c/adapter.c -liconcache
 *
 * It contains the library's parser and digests, which a shared library does not export.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "iconcache.h"
#include "json.c"
#include "sha256.c"

struct question {
    char *ask, *url, *list;
    int64_t index;
    uint32_t size;
    double seconds;
};

struct adapter {
    iconcache *cache;
    iconcache_snapshot *held;
    iconcache_watch *watch;
};

/* MARK: Answers */

static void print_text(const char *text) {
    putchar('"');
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0'; p++) {
        if (*p < 0x20) {
            printf("\\u%04x", *p);
        } else {
            if (*p == '"' || *p == '\\') putchar('\\');
            putchar(*p);
        }
    }
    putchar('"');
}

static void print_member(const char *key, const char *text) {
    if (text == NULL) return;
    printf(", \"%s\": ", key);
    print_text(text);
}

static void print_only(const char *key, const char *text) {
    printf("{ \"%s\": ", key);
    if (text == NULL) {
        printf("null");
    } else {
        print_text(text);
    }
    printf(" }\n");
}

static void print_error(int code) {
    const char *word = "failed";
    switch (code) {
    case ICONCACHE_NO_CACHE: word = "no-cache"; break;
    case ICONCACHE_UNREADABLE: word = "unreadable"; break;
    case ICONCACHE_DAMAGED: word = "damaged"; break;
    case ICONCACHE_UNKNOWN_FORMAT: word = "unknown-format"; break;
    default: break;
    }
    print_only("error", word);
}

static void print_renditions(const iconcache_app *app) {
    for (size_t i = 0; i < app->renditions_count; i++) {
        const iconcache_rendition *rendition = app->renditions[i];
        printf("%s\"%s\": { \"bytes\": %" PRIu64 ", \"width\": %" PRIu32 ", \"height\": %" PRIu32,
            i == 0 ? ", \"renditions\": { " : ", ", rendition->size, rendition->image->bytes, rendition->image->width,
            rendition->image->height);
        print_member("path", rendition->image->path);
        print_member("sha256", rendition->image->sha256);
        printf(" }");
    }
    if (app->renditions_count > 0) printf(" }");
}

static void print_app(const iconcache_app *app) {
    static const char *const states[] = {"pending", "ready", "failed"};
    printf("{ \"status\": \"%s\"", states[app->status]);
    print_member("name", app->name);
    print_member("id", app->id);
    print_member("icon", app->icon);
    print_member("download", app->download);
    print_member("expected", app->expected);
    const iconcache_image *image = app->image;
    if (image != NULL) {
        print_member("path", image->path);
        print_member("sha256", image->sha256);
        printf(", \"bytes\": %" PRIu64, image->bytes);
        print_member("type", image->type);
        printf(", \"width\": %" PRIu32 ", \"height\": %" PRIu32, image->width, image->height);
    }
    print_member("previous", app->previous);
    print_member("previousSince", app->previous_since);
    print_member("error", app->error);
    print_renditions(app);
    printf(" }");
}

static void print_change(const iconcache_change *change) {
    static const char *const kinds[] = {
        "listAdded", "listChanged", "listRemoved", "iconReady", "iconReplaced", "iconGone"};
    printf("[\"%s\", ", kinds[change->kind]);
    print_text(change->list != NULL ? change->list : change->url);
    if (change->image != NULL) {
        printf(", ");
        print_text(change->image->sha256);
    }
    printf("]");
}

/* Prints the digest of what an open file contains, and closes that. */
static void print_digest(int file) {
    size_t size = 0, capacity = 1 << 16;
    char *bytes = malloc(capacity);
    ssize_t count = 1;
    while (bytes != NULL && (count = read(file, bytes + size, capacity - size)) != 0) {
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) break;
        size += (size_t)count;
        if (size < capacity) continue;
        capacity *= 2;
        char *larger = realloc(bytes, capacity);
        if (larger == NULL) free(bytes);
        bytes = larger;
    }
    close(file);
    if (bytes == NULL || count < 0) {
        print_error(bytes == NULL ? ICONCACHE_NO_MEMORY : ICONCACHE_UNREADABLE);
    } else {
        unsigned char digest[SHA256_SIZE];
        char digits[SHA256_DIGITS + 1] = "";
        sha256(bytes, size, false, digest);
        sha256_write_digits(digest, digits);
        print_only("sha256", digits);
    }
    free(bytes);
}

/* MARK: Questions about a URL */

static void answer_path(const struct adapter *adapter, const struct question *question) {
    size_t size = iconcache_path_size(adapter->cache);
    char *path = malloc(size);
    int code = iconcache_path_for_pixels(
        adapter->cache, question->url, question->size, path, path == NULL ? 0 : size, NULL);
    if (code == ICONCACHE_OK || code == ICONCACHE_ABSENT) {
        print_only("path", code == ICONCACHE_OK ? path : NULL);
    } else {
        print_error(code);
    }
    free(path);
}

static void answer_read(const struct adapter *adapter, const struct question *question) {
    int file = iconcache_open_for_pixels(adapter->cache, question->url, question->size, NULL);
    if (file >= 0) {
        print_digest(file);
    } else if (file == ICONCACHE_ABSENT) {
        print_only("sha256", NULL);
    } else {
        print_error(file);
    }
}

/* MARK: Questions about a generation */

/* Answers from a snapshot; returns a result of the library, and has printed nothing if that is an error. */
typedef int answer(const iconcache_snapshot *snapshot, const struct question *question, iconcache_error *error);

static int answer_lists(const iconcache_snapshot *snapshot, const struct question *question, iconcache_error *error) {
    (void)question;
    (void)error;
    printf("{ \"generation\": %" PRId64 ", \"lists\": [", iconcache_snapshot_generation(snapshot));
    const iconcache_list *list;
    for (size_t i = 0; (list = iconcache_snapshot_list(snapshot, i)) != NULL; i++) {
        printf("%s{ \"name\": ", i == 0 ? "" : ", ");
        print_text(list->name);
        printf(", \"apps\": %" PRIu64 ", \"ready\": %" PRIu64 ", \"pending\": %" PRIu64 ", \"failed\": %" PRIu64 " }",
            list->apps, list->ready, list->pending, list->failed);
    }
    printf("] }\n");
    return ICONCACHE_OK;
}

static int answer_apps(const iconcache_snapshot *snapshot, const struct question *question, iconcache_error *error) {
    iconcache_apps *apps;
    int code = iconcache_apps_new(snapshot, question->list, &apps, error);
    if (code == ICONCACHE_ABSENT) {
        printf("{ \"apps\": null }\n");
        return ICONCACHE_OK;
    }
    if (code != ICONCACHE_OK) return code;
    printf("{ \"apps\": [");
    const iconcache_app *app;
    for (bool is_first = true; (app = iconcache_apps_next(apps)) != NULL; is_first = false) {
        if (!is_first) printf(", ");
        print_app(app);
    }
    printf("] }\n");
    iconcache_apps_free(apps);
    return code;
}

static int answer_entry(const iconcache_snapshot *snapshot, const struct question *question, iconcache_error *error) {
    iconcache_apps *apps;
    int code = iconcache_apps_of_url(snapshot, question->url, &apps, error);
    if (code == ICONCACHE_ABSENT) {
        printf("{ \"app\": null }\n");
        return ICONCACHE_OK;
    }
    if (code != ICONCACHE_OK) return code;
    printf("{ \"app\": ");
    print_app(iconcache_apps_next(apps));
    printf(" }\n");
    iconcache_apps_free(apps);
    return code;
}

static int answer_open(const iconcache_snapshot *snapshot, const struct question *question, iconcache_error *error) {
    iconcache_apps *apps;
    int code = iconcache_apps_new(snapshot, question->list, &apps, error);
    if (code == ICONCACHE_ABSENT) {
        print_only("sha256", NULL);
        return ICONCACHE_OK;
    }
    if (code != ICONCACHE_OK) return code;
    const iconcache_app *app = iconcache_apps_next(apps);
    for (int64_t i = 0; i < question->index && app != NULL; i++) app = iconcache_apps_next(apps);
    const iconcache_image *image = iconcache_app_image_for_pixels(app, question->size);
    int file = image == NULL ? ICONCACHE_ABSENT : iconcache_snapshot_open(snapshot, image, error);
    iconcache_apps_free(apps);
    if (file >= 0) {
        print_digest(file);
    } else if (file == ICONCACHE_ABSENT) {
        print_only("sha256", NULL);
    } else {
        return file;
    }
    return ICONCACHE_OK;
}

/* Whether a file may be gone because there is a newer generation. */
static bool may_be_replaced(const iconcache_error *error) {
    return error->code == ICONCACHE_UNREADABLE
        && (error->system_error == ESTALE || error->system_error == ENOENT || error->system_error == EIO);
}

/* Answers from the newest generation, and once more if that was superseded where leases are not seen. */
static int answer_newest(const struct adapter *adapter, const struct question *question, answer *answer_from) {
    iconcache_error error = {0};
    iconcache_snapshot *snapshot, *newest;
    int code = iconcache_snapshot_new(adapter->cache, &snapshot, &error);
    if (code != ICONCACHE_OK) return code;
    code = answer_from(snapshot, question, &error);
    bool is_tried_again = code != ICONCACHE_OK && may_be_replaced(&error)
        && iconcache_snapshot_new(adapter->cache, &newest, NULL) == ICONCACHE_OK;
    if (is_tried_again) {
        bool is_newer = iconcache_snapshot_generation(newest) != iconcache_snapshot_generation(snapshot);
        if (is_newer) code = answer_from(newest, question, &error);
        iconcache_snapshot_free(newest);
    }
    iconcache_snapshot_free(snapshot);
    return code;
}

static void answer_generation(const struct adapter *adapter, const struct question *question, answer *answer_from) {
    iconcache_error error;
    int code = adapter->held == NULL
        ? answer_newest(adapter, question, answer_from) : answer_from(adapter->held, question, &error);
    if (code != ICONCACHE_OK) print_error(code);
}

static void answer_hold(struct adapter *adapter) {
    iconcache_snapshot_free(adapter->held);
    int code = iconcache_snapshot_new(adapter->cache, &adapter->held, NULL);
    if (code != ICONCACHE_OK) {
        print_error(code);
        return;
    }
    printf("{ \"generation\": %" PRId64 ", \"leased\": %s }\n", iconcache_snapshot_generation(adapter->held),
        iconcache_snapshot_is_leased(adapter->held) ? "true" : "false");
}

static void answer_release(struct adapter *adapter) {
    iconcache_snapshot_free(adapter->held);
    adapter->held = NULL;
    printf("{}\n");
}

/* MARK: Changes */

static void answer_watch(struct adapter *adapter) {
    iconcache_watch_free(adapter->watch);
    int code = iconcache_watch_new(adapter->cache, &adapter->watch, NULL);
    if (code == ICONCACHE_OK) {
        printf("{}\n");
    } else {
        print_error(code);
    }
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Waits for the first change; the result is that of iconcache_watch_next(). */
static int wait_for_change(const struct adapter *adapter, double seconds, const iconcache_change **change) {
    double end = now() + seconds;
    for (;;) {
        int code = iconcache_watch_next(adapter->watch, change, NULL);
        double left = end - now();
        if (code != ICONCACHE_ABSENT || left <= 0) return code;
        struct pollfd poller = {.fd = iconcache_watch_descriptor(adapter->watch), .events = POLLIN};
        poll(&poller, 1, (int)(left * 1000) + 1);
    }
}

static void answer_changes(const struct adapter *adapter, const struct question *question) {
    if (adapter->watch == NULL) {
        print_error(ICONCACHE_INVALID);
        return;
    }
    const iconcache_change *change;
    int code = wait_for_change(adapter, question->seconds, &change);
    if (code != ICONCACHE_OK && code != ICONCACHE_ABSENT) {
        print_error(code);
        return;
    }
    printf("{ \"changes\": [");
    for (bool is_first = true; code == ICONCACHE_OK; is_first = false) {
        if (!is_first) printf(", ");
        print_change(change);
        code = iconcache_watch_next(adapter->watch, &change, NULL);
    }
    printf("] }\n");
}

/* MARK: Questions */

static char *decoded(json *parser) {
    json_text text;
    if (!json_read_text(parser, &text)) return NULL;
    char *result = malloc(text.size + 1);
    if (result != NULL) json_decode(&text, result);
    return result;
}

static bool read_size(json *parser, uint32_t *size) {
    int64_t number;
    if (!json_read_integer(parser, &number) || number < 1 || number > UINT32_MAX) return false;
    *size = (uint32_t)number;
    return true;
}

/* Reads seconds, which may have a fraction. */
static bool read_seconds(json *parser, double *seconds) {
    while (parser->next < parser->end && *parser->next == ' ') parser->next++;
    const char *start = (const char *)parser->next;
    if (!json_skip(parser)) return false;
    *seconds = strtod(start, NULL);
    return true;
}

static bool read_question(const char *line, struct question *question) {
    json parser;
    json_text key;
    int result;
    json_begin(&parser, line, strlen(line));
    if (!json_enter_object(&parser)) return false;
    while ((result = json_next_member(&parser, &key)) > 0) {
        bool is_read;
        if (json_text_is(&key, "ask", 3) && question->ask == NULL) {
            is_read = (question->ask = decoded(&parser)) != NULL;
        } else if (json_text_is(&key, "url", 3) && question->url == NULL) {
            is_read = (question->url = decoded(&parser)) != NULL;
        } else if (json_text_is(&key, "list", 4) && question->list == NULL) {
            is_read = (question->list = decoded(&parser)) != NULL;
        } else if (json_text_is(&key, "index", 5)) {
            is_read = json_read_integer(&parser, &question->index);
        } else if (json_text_is(&key, "size", 4)) {
            is_read = read_size(&parser, &question->size);
        } else if (json_text_is(&key, "seconds", 7)) {
            is_read = read_seconds(&parser, &question->seconds);
        } else {
            is_read = json_skip(&parser);
        }
        if (!is_read) return false;
    }
    return result == 0 && question->ask != NULL;
}

static void answer_question(struct adapter *adapter, const struct question *question) {
    const char *ask = question->ask;
    if (strcmp(ask, "path") == 0) {
        answer_path(adapter, question);
    } else if (strcmp(ask, "read") == 0) {
        answer_read(adapter, question);
    } else if (strcmp(ask, "lists") == 0) {
        answer_generation(adapter, question, answer_lists);
    } else if (strcmp(ask, "apps") == 0) {
        answer_generation(adapter, question, answer_apps);
    } else if (strcmp(ask, "entry") == 0) {
        answer_generation(adapter, question, answer_entry);
    } else if (strcmp(ask, "open") == 0) {
        answer_generation(adapter, question, answer_open);
    } else if (strcmp(ask, "hold") == 0) {
        answer_hold(adapter);
    } else if (strcmp(ask, "release") == 0) {
        answer_release(adapter);
    } else if (strcmp(ask, "watch") == 0) {
        answer_watch(adapter);
    } else if (strcmp(ask, "changes") == 0) {
        answer_changes(adapter, question);
    } else if (strcmp(ask, "folder") == 0) {
        print_only("folder", iconcache_folder(adapter->cache));
    } else {
        print_error(ICONCACHE_INVALID);
    }
}

int main(int count, char **arguments) {
    struct adapter adapter = {0};
    iconcache_error error;
    if (iconcache_new(count > 1 ? arguments[1] : NULL, &adapter.cache, &error) != ICONCACHE_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    printf("{ \"reader\": \"C\", \"can\": [\"read\", \"lists\", \"apps\", \"entry\", \"hold\", \"open\", \"watch\","
        " \"folder\", \"renditions\"] }\n");
    fflush(stdout);
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, stdin) > 0) {
        struct question question = {0};
        if (read_question(line, &question)) {
            answer_question(&adapter, &question);
        } else {
            print_error(ICONCACHE_INVALID);
        }
        fflush(stdout);
        free(question.ask);
        free(question.url);
        free(question.list);
    }
    free(line);
    iconcache_watch_free(adapter.watch);
    iconcache_snapshot_free(adapter.held);
    iconcache_free(adapter.cache);
    return 0;
}
