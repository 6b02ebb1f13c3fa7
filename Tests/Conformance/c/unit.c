/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the parts of libiconcache that its users do not see.
 *
 *     cc -std=c11 -D_GNU_SOURCE -g -ISources/LibIconCache \
 *         Tests/Conformance/c/unit.c Sources/LibIconCache/[a-z]*.c -o unit
 *     valgrind --leak-check=full --error-exitcode=1 ./unit
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache.h"
#include "document.h"
#include "file.h"
#include "sha256.h"

static int failures;

static void check(bool is_right, const char *what, const char *detail) {
    if (is_right) return;
    failures++;
    printf("%s: %s\n", what, detail);
}

/* MARK: Digests */

static void check_digest(const char *bytes, size_t size, const char *expected) {
    for (int accelerated = 0; accelerated <= sha256_can_accelerate(); accelerated++) {
        unsigned char digest[SHA256_SIZE];
        char digits[SHA256_DIGITS + 1] = "";
        sha256(bytes, size, accelerated, digest);
        sha256_write_digits(digest, digits);
        check(strcmp(digits, expected) == 0, accelerated ? "accelerated digest" : "digest", expected);
        check(sha256_is_hex(digits) && sha256_is(digest, digits), "digits", digits);
        unsigned char back[SHA256_SIZE];
        sha256_read_digits(digits, back);
        check(memcmp(back, digest, sizeof back) == 0, "digits, read again", digits);
    }
}

static void test_digests(void) {
    check_digest("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    check_digest("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    const char *two = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    check_digest(two, strlen(two), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    const char *four = "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqr"
        "lmnopqrsmnopqrstnopqrstu";
    check_digest(four, strlen(four), "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
    char *million = malloc(1000000);
    if (million == NULL) exit(1);
    memset(million, 'a', 1000000);
    check_digest(million, 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(million);

    unsigned char bytes[301], one[SHA256_SIZE], other[SHA256_SIZE];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)(i * 167 + 13);
    for (size_t size = 0; size < sizeof bytes; size++) {
        sha256(bytes, size, false, one);
        sha256(bytes, size, sha256_can_accelerate(), other);
        check(memcmp(one, other, sizeof one) == 0, "both digests of a length", "differ");
    }
    check(!sha256_is_hex("abc") && !sha256_is_hex(""), "digits", "too few");
}

/* MARK: JSON */

static void check_text(const char *source, const char *expected) {
    json parser;
    json_text text;
    json_begin(&parser, source, strlen(source));
    bool is_text = json_read_text(&parser, &text) && json_at_end(&parser);
    check(is_text == (expected != NULL), "text", source);
    if (!is_text || expected == NULL) return;
    char buffer[256], exact[256];
    size_t length = json_decode(&text, buffer);
    check(length == strlen(expected) && strcmp(buffer, expected) == 0, "decoded text", source);
    check(json_text_is(&text, expected, length), "compared text", source);
    check(!json_text_is(&text, expected, length + 1), "compared longer text", source);
    check(length == 0 || !json_text_is(&text, expected, length - 1), "compared shorter text", source);
    check(json_decode_into(&text, exact, length + 1) && strcmp(exact, expected) == 0, "text in a buffer", source);
    check(!json_decode_into(&text, exact, length), "text in a small buffer", source);
}

static void test_texts(void) {
    check_text("\"\"", "");
    check_text(" \"plain text of more than sixteen bytes\" ", "plain text of more than sixteen bytes");
    check_text("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t");
    check_text("\"\\u0041\\u00e9\\u20AC\\ud83d\\uDE00\"", "A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
    check_text("\"a\\u0000b\"", "a\xEF\xBF\xBD" "b");
    check_text("\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\x7F\"", "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\x7F");
    static const char *const wrong[] = {
        "", "\"", "\"a", "a\"", "\"\\\"", "\"\\q\"", "\"\\u12\"", "\"\\u12g4\"", "\"\\ud800\"", "\"\\udc00\"",
        "\"\\ud800\\ud800\"", "\"\\ud800x\"", "\"\\ud800\\u\"", "\"\x01\"", "\"\n\"", "\"\xFF\"", "\"\xC0\x80\"",
        "\"\xE0\x80\x80\"", "\"\xED\xA0\x80\"", "\"\xF0\x80\x80\x80\"", "\"\xF4\x90\x80\x80\"", "\"\xE2\x82\"",
        "\"\xE2",
        "\"\x80\"", "\"\\"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) check_text(wrong[i], NULL);
    /* Each kind of byte at each place of a word. */
    for (int place = 0; place < 40; place++) {
        for (int byte = 1; byte < 256; byte++) {
            char source[64] = "\"";
            memset(source + 1, 'x', 41);
            source[1 + place] = (char)byte;
            strcpy(source + 42, "\"");
            json parser;
            json_text text;
            json_begin(&parser, source, strlen(source));
            bool is_text = json_read_text(&parser, &text) && json_at_end(&parser);
            bool is_plain = byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
            check(is_text == is_plain, "text with a byte", source);
        }
    }
}

static void test_numbers(void) {
    static const struct {
        const char *source;
        int64_t value;
    } right[] = {
        {"0", 0}, {"-0", 0}, {"-0.0", 0}, {"7", 7}, {"-7", -7}, {"1.0", 1}, {"1e2", 100}, {"1E+2", 100}, {"0.5e1", 5},
        {"10e-1", 1}, {"120.00", 120}, {"1.25e2", 125}, {"0e99999999999999999999", 0},
        {"9223372036854775807", INT64_MAX}, {"-9223372036854775808", INT64_MIN},
        {"-922337203685477580.8e1", INT64_MIN}, {"9007199254740993.0", INT64_C(9007199254740993)}, {" 42 ", 42}};
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        json parser;
        int64_t number;
        json_begin(&parser, right[i].source, strlen(right[i].source));
        bool is_right = json_read_integer(&parser, &number) && json_at_end(&parser) && number == right[i].value;
        check(is_right, "number", right[i].source);
    }
    static const char *const wrong[] = {
        "", "-", "01", "+1", ".5", "1.", "1e", "1e+", "1.5", "1e-1", "1e19", "1e99999999999999999999",
        "1e-99999999999999999999",
        "9223372036854775808", "-9223372036854775809", "922337203685477580.8e1", "0x1", "true", "\"1\"", "1 2", "--1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        json parser;
        int64_t number;
        json_begin(&parser, wrong[i], strlen(wrong[i]));
        check(!(json_read_integer(&parser, &number) && json_at_end(&parser)), "wrong number", wrong[i]);
    }
}

static bool is_json(const char *source, size_t size) {
    json parser;
    json_begin(&parser, source, size);
    return json_skip(&parser) && json_at_end(&parser);
}

static void test_values(void) {
    static const char *const right[] = {
        "{}", "[]", "[1,2]", " { \"a\" : [ { } , [ ] , null , true , false , -1.5e-3 , \"\\ud800\" ] , \"b\" : 1 } ",
        "[[[]],{\"a\":{\"b\":[]}}]", "\xEF\xBB\xBF[]"};
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        check(is_json(right[i], strlen(right[i])), "value", right[i]);
    }
    static const char *const wrong[] = {
        "", "[", "]", "[1,]", "[,1]", "[1 2]", "{,}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{\"a\":1]", "[1}",
        "nul", "tru", "falsey", "[]]", "{\"a\":1 \"b\":2}", "{1:2}", "[\f]", "// x\n[]"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        check(!is_json(wrong[i], strlen(wrong[i])), "wrong value", wrong[i]);
    }
    char deep[2 * (JSON_DEPTH + 1)];
    for (size_t depth = JSON_DEPTH; depth <= JSON_DEPTH + 1; depth++) {
        memset(deep, '[', depth);
        memset(deep + depth, ']', depth);
        check(is_json(deep, 2 * depth) == (depth == JSON_DEPTH), "depth", "of arrays");
    }
    size_t size = 8 << 20;
    char *brackets = malloc(size);
    if (brackets == NULL) exit(1);
    memset(brackets, '[', size);
    check(!is_json(brackets, size), "depth", "of very many arrays");
    free(brackets);
}

static void test_times(void) {
    static const struct {
        const char *source;
        bool is_time;
    } times[] = {
        {"\"2026-11-21T02:44:52Z\"", true}, {"\"2024-02-29T23:59:59Z\"", true}, {"\"2000-02-29T00:00:00Z\"", true},
        {"\"0000-01-01T00:00:00Z\"", true}, {"\"2026-02-29T00:00:00Z\"", false}, {"\"1900-02-29T00:00:00Z\"", false},
        {"\"2026-11-31T00:00:00Z\"", false}, {"\"2026-13-01T00:00:00Z\"", false}, {"\"2026-00-01T00:00:00Z\"", false},
        {"\"2026-01-00T00:00:00Z\"", false}, {"\"2026-01-01T24:00:00Z\"", false}, {"\"2026-01-01T00:60:00Z\"", false},
        {"\"2026-01-01T00:00:60Z\"", false}, {"\"2026-01-01 00:00:00Z\"", false}, {"\"2026-01-01T00:00:00+\"", false},
        {"\"2026-01-01T00:00:00.0Z\"", false}, {"\"\"", false}, {"\"2026-01-0xT00:00:00Z\"", false}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        json parser;
        json_text text;
        json_begin(&parser, times[i].source, strlen(times[i].source));
        check(json_read_text(&parser, &text) && is_time(&text) == times[i].is_time, "time", times[i].source);
    }
}

/* Whether a document is one with these numbers: that of its source, and the width of a pending and of a ready entry. */
static bool is_document(const char *source, const char *pending, const char *ready) {
    const char *digits = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", *reason;
    char text[1024];
    struct document document;
    int size = snprintf(text, sizeof text,
        "{\"format\":1,\"list\":\"a\",\"source\":{\"sha256\":\"%s\",\"bytes\":%s,"
        "\"modified\":\"2026-11-21T02:44:50Z\"},\"apps\":[{\"icon\":\"u\",\"status\":\"pending\",\"width\":%s},"
        "{\"icon\":\"u\",\"status\":\"ready\",\"path\":\"icons/ba/%s.png\",\"sha256\":\"%s\",\"bytes\":1,"
        "\"type\":\"image/png\",\"width\":%s,\"height\":1}]}",
        digits, source, pending, digits, digits, ready);
    return document_read(&document, text, (size_t)size, &reason);
}

static void test_numbers_of_documents(void) {
    static const struct {
        const char *source, *pending, *ready;
        bool is_document;
    } rows[] = {
        {"0", "0", "0", true}, {"-1", "0", "0", false}, {"-0", "0", "0", true}, {"null", "0", "0", false},
        {"9223372036854775807", "9223372036854775807", "9223372036854775807", true},
        {"9223372036854775808", "0", "0", false}, {"0", "-1", "0", true}, {"0", "null", "0", true},
        {"0", "-9223372036854775808", "0", true}, {"0", "-9223372036854775809", "0", false},
        {"0", "9223372036854775808", "0", false}, {"0", "1.5", "0", false}, {"0", "0", "-1", false},
        {"0", "0", "null", false}, {"0", "0", "9223372036854775808", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[128];
        snprintf(text, sizeof text, "%s, %s, %s", rows[i].source, rows[i].pending, rows[i].ready);
        check(is_document(rows[i].source, rows[i].pending, rows[i].ready) == rows[i].is_document, "document", text);
    }
}

/* MARK: Files */

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0) exit(1);
}

/* Whether the kernel checks where a link leads; valgrind(1) does not know that system call. */
static bool follows_links(void) {
    int file;
    if (file_open_beneath("cache", "icons/in", &file) != 0) return false;
    close(file);
    return true;
}

static void check_beneath(const char *folder, const char *path, int expected, int expected_without_links) {
    int (*const functions[])(const char *, const char *, int *) = {file_open_beneath, file_open_without_links};
    if (!follows_links()) expected = expected_without_links;
    for (int i = 0; i < 2; i++) {
        int file = -1;
        int error = functions[i](folder, path, &file);
        check(error == (i == 0 ? expected : expected_without_links), i == 0 ? "opened" : "opened without links", path);
        if (error == 0) close(file);
    }
}

static void test_files(const char *folder) {
    if (chdir(folder) != 0 || mkdir("cache", 0777) != 0 || mkdir("cache/icons", 0777) != 0) exit(1);
    write_file("outside", "no");
    write_file("cache/icons/a", "yes");
    bool is_made = symlink("../../outside", "cache/icons/out") == 0 && symlink("/etc/passwd", "cache/icons/root") == 0
        && symlink("a", "cache/icons/in") == 0 && symlink("..", "cache/up") == 0 && symlink("icons", "cache/same") == 0
        && symlink("loop", "cache/loop") == 0 && mkfifo("cache/icons/pipe", 0666) == 0;
    if (!is_made) exit(1);
    check_beneath("cache", "icons/a", 0, 0);
    check_beneath("cache", "icons/in", 0, FILE_IS_OUTSIDE);
    check_beneath("cache", "icons/out", FILE_IS_OUTSIDE, FILE_IS_OUTSIDE);
    check_beneath("cache", "icons/root", FILE_IS_OUTSIDE, FILE_IS_OUTSIDE);
    check_beneath("cache", "up/outside", FILE_IS_OUTSIDE, FILE_IS_OUTSIDE);
    check_beneath("cache", "../outside", FILE_IS_OUTSIDE, FILE_IS_OUTSIDE);
    check_beneath("cache", "same/a", 0, FILE_IS_OUTSIDE);
    check_beneath("cache", "loop", FILE_IS_OUTSIDE, FILE_IS_OUTSIDE);
    check_beneath("cache", "icons/pipe", FILE_IS_NONE, FILE_IS_NONE);
    check_beneath("cache", "icons", FILE_IS_NONE, FILE_IS_NONE);
    check_beneath("cache", "icons/none", ENOENT, ENOENT);
    check_beneath("cache", "none/none", ENOENT, ENOENT);
    check_beneath("cache", "icons/a/b", ENOTDIR, ENOTDIR);
    check_beneath("none", "icons/a", ENOENT, ENOENT);

    /* A file whose size is not known before. */
    unsigned char *bytes;
    size_t size;
    check(file_read_path("/proc/self/status", &bytes, &size) == 0 && size > 0, "file", "without a size");
    free(bytes);
    static const char *const names[] = {
        "cache/icons/a", "cache/icons/out", "cache/icons/root", "cache/icons/in", "cache/icons/pipe", "cache/icons",
        "cache/up", "cache/same", "cache/loop", "cache", "outside"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (remove(names[i]) != 0) exit(1);
    }
}

/* MARK: Folders and paths */

static void check_folder(const char *folder, const char *expected) {
    iconcache *cache;
    iconcache_error error;
    check(iconcache_new(folder, &cache, &error) == ICONCACHE_OK, "cache", expected);
    check(strcmp(iconcache_folder(cache), expected) == 0, "folder", iconcache_folder(cache));
    iconcache_free(cache);
}

static void test_folders(const char *folder) {
    char expected[256];
    check_folder("/", "/");
    check_folder("//a///b//", "/a/b");
    check_folder("/a", "/a");
    snprintf(expected, sizeof expected, "%s/x/y", folder);
    check_folder("x//y/", expected);
    setenv("XDG_CACHE_HOME", folder, 1);
    snprintf(expected, sizeof expected, "%s/syncagent", folder);
    if (access("/var/cache/syncagent", F_OK) != 0) check_folder(NULL, expected);
    setenv("XDG_CACHE_HOME", "relative", 1);
    setenv("HOME", folder, 1);
    snprintf(expected, sizeof expected, "%s/.cache/syncagent", folder);
    if (access("/var/cache/syncagent", F_OK) != 0) check_folder(NULL, expected);
    unsetenv("HOME");
    check_folder(NULL, "/var/cache/syncagent");
    iconcache *cache;
    check(iconcache_new("", &cache, NULL) == ICONCACHE_INVALID && cache == NULL, "folder", "without a name");
}

static void test_paths(const char *folder) {
    const char *url = "https://example.com/mail.png";
    char path[512], expected[256], name[512];
    iconcache *cache;
    iconcache_error error;
    if (iconcache_new(folder, &cache, &error) != ICONCACHE_OK) exit(1);
    size_t size = iconcache_path_size(cache);
    check(iconcache_path(cache, url, path, sizeof path, &error) == ICONCACHE_NO_CACHE, "path", "without a cache");
    check(path[0] == '\0' && error.code == ICONCACHE_NO_CACHE && error.message[0] != '\0', "path", "without a cache");
    snprintf(name, sizeof name, "%s/manifest.json", folder);
    write_file(name, "");
    check(iconcache_path(cache, url, path, sizeof path, NULL) == ICONCACHE_ABSENT, "path", "without an image");
    check(iconcache_path_or(cache, url, "other", path, 6, NULL) == ICONCACHE_INVALID && strcmp(path, "other") == 0,
        "path", "or a placeholder");
    check(iconcache_path_or(cache, url, "other", path, size, NULL) == ICONCACHE_ABSENT && strcmp(path, "other") == 0,
        "path", "or a placeholder in a larger buffer");
    check(iconcache_path_or(cache, url, "other", path, 5, NULL) == ICONCACHE_INVALID && path[0] == '\0',
        "path", "or a placeholder that is too long");

    snprintf(expected, sizeof expected, "%s/by-url/24/24528e4ffec3fb260643e26cda59e3fd6a79f69b1a8c3b8b57ce63feffb34c48",
        folder);
    check(size == strlen(expected) + 1, "size", "of a path");
    snprintf(name, sizeof name, "%s/by-url", folder);
    if (mkdir(name, 0777) != 0) exit(1);
    snprintf(name, sizeof name, "%s/by-url/24", folder);
    if (mkdir(name, 0777) != 0) exit(1);
    write_file(expected, "image");
    check(iconcache_path(cache, url, path, size, NULL) == ICONCACHE_OK && strcmp(path, expected) == 0, "path", path);
    check(iconcache_path(cache, url, path, size - 1, NULL) == ICONCACHE_INVALID, "path", "in a small buffer");
    int file = iconcache_open(cache, url, &error);
    check(file >= 0, "image", "opened");
    close(file);

    iconcache_free(cache);
    bool is_removed = remove(expected) == 0 && remove(name) == 0;
    snprintf(name, sizeof name, "%s/by-url", folder);
    is_removed = is_removed && remove(name) == 0;
    snprintf(name, sizeof name, "%s/manifest.json", folder);
    if (!is_removed || remove(name) != 0) exit(1);
}

/* MARK: Arguments and results */

static void test_nulls(const char *folder) {
    iconcache_error error = {.code = 42};
    char path[8] = "x";
    check(iconcache_new("/", NULL, &error) == ICONCACHE_INVALID && error.code == ICONCACHE_INVALID, "NULL", "new");
    check(iconcache_folder(NULL) == NULL && iconcache_path_size(NULL) == 0, "NULL", "folder and size");
    check(iconcache_path(NULL, "a", path, sizeof path, NULL) == ICONCACHE_INVALID && path[0] == '\0', "NULL", "path");
    check(iconcache_path_or(NULL, "a", "b", path, sizeof path, NULL) == ICONCACHE_INVALID, "NULL", "path_or");
    check(strcmp(path, "b") == 0, "NULL", "placeholder");
    check(iconcache_path_or(NULL, "a", NULL, NULL, 0, NULL) == ICONCACHE_INVALID, "NULL", "path_or");
    check(iconcache_open(NULL, "a", NULL) == ICONCACHE_INVALID, "NULL", "open");
    iconcache_snapshot *snapshot = (iconcache_snapshot *)path;
    check(iconcache_snapshot_new(NULL, &snapshot, NULL) == ICONCACHE_INVALID && snapshot == NULL, "NULL", "snapshot");
    check(iconcache_snapshot_generation(NULL) == -1 && !iconcache_snapshot_is_leased(NULL), "NULL", "generation");
    check(iconcache_snapshot_lists(NULL) == 0 && iconcache_snapshot_list(NULL, 0) == NULL, "NULL", "lists");
    check(iconcache_snapshot_open(NULL, NULL, NULL) == ICONCACHE_INVALID, "NULL", "image");
    iconcache_apps *apps = (iconcache_apps *)path;
    check(iconcache_apps_new(NULL, "a", &apps, NULL) == ICONCACHE_INVALID && apps == NULL, "NULL", "apps");
    check(iconcache_apps_of_url(NULL, "a", &apps, NULL) == ICONCACHE_INVALID, "NULL", "apps of a URL");
    check(iconcache_apps_next(NULL) == NULL && iconcache_apps_find(NULL, "a") == NULL, "NULL", "app");
    iconcache_apps_rewind(NULL);
    iconcache_watch *watch = (iconcache_watch *)path;
    check(iconcache_watch_new(NULL, &watch, NULL) == ICONCACHE_INVALID && watch == NULL, "NULL", "watch");
    check(iconcache_watch_descriptor(NULL) == -1, "NULL", "descriptor");
    const iconcache_change *change = (const iconcache_change *)path;
    check(iconcache_watch_next(NULL, &change, NULL) == ICONCACHE_INVALID && change == NULL, "NULL", "change");
    iconcache_free(NULL);
    iconcache_snapshot_free(NULL);
    iconcache_apps_free(NULL);
    iconcache_watch_free(NULL);

    iconcache *cache;
    check(iconcache_new(folder, &cache, &error) == ICONCACHE_OK && error.code == ICONCACHE_INVALID, "error", "kept");
    snapshot = (iconcache_snapshot *)path;
    check(iconcache_snapshot_new(cache, &snapshot, &error) == ICONCACHE_NO_CACHE, "snapshot", "without a cache");
    check(snapshot == NULL && error.code == ICONCACHE_NO_CACHE, "snapshot", "without a cache");
    iconcache_free(cache);
}

/* MARK: Changes */

/* Publishes a list with one image in the current directory. */
static void publish(const char *generation, const char *image) {
    char document[1024], manifest[1024], name[128], digits[SHA256_DIGITS + 1] = "";
    unsigned char digest[SHA256_SIZE];
    sha256(image, strlen(image), false, digest);
    sha256_write_digits(digest, digits);
    snprintf(document, sizeof document,
        "{\"format\":1,\"list\":\"a\",\"source\":{\"sha256\":\"%s\",\"bytes\":1,"
        "\"modified\":\"2026-11-21T02:44:50Z\"},\"apps\":[{\"icon\":\"u\",\"status\":\"ready\","
        "\"path\":\"icons/%.2s/%s.png\",\"sha256\":\"%s\",\"bytes\":1,\"type\":\"image/png\",\"width\":1,"
        "\"height\":4294967296}]}",
        digits, digits, digits, digits);
    sha256(document, strlen(document), false, digest);
    sha256_write_digits(digest, digits);
    snprintf(name, sizeof name, "lists/%s.json", digits);
    write_file(name, document);
    snprintf(manifest, sizeof manifest,
        "{\"format\":1,\"generation\":%s,\"published\":\"2026-11-21T02:44:52Z\",\"lists\":{\"a\":"
        "{\"sha256\":\"%s\",\"apps\":1,\"ready\":1,\"pending\":0,\"failed\":0}}}",
        generation, digits);
    write_file("manifest.new", manifest);
    if (rename("manifest.new", "manifest.json") != 0) exit(1);
}

static void publish_damage(void) {
    write_file("manifest.new", "{");
    if (rename("manifest.new", "manifest.json") != 0) exit(1);
}

static void check_change(iconcache_watch *watch, int code, int kind) {
    static char what[64];
    const iconcache_change *change;
    iconcache_error error = {.code = 42};
    int found = iconcache_watch_next(watch, &change, &error);
    snprintf(what, sizeof what, "result %d, not %d, or not kind %d", found, code, kind);
    check(found == code && error.code == (code == ICONCACHE_OK ? 42 : code), "change", what);
    if (found == ICONCACHE_OK) check((int)change->kind == kind, "change", what);
    bool has_image = found == ICONCACHE_OK && change->image != NULL;
    if (has_image) check(change->image->height == UINT32_MAX && change->image->width == 1, "image", "size");
}

static bool is_readable(const iconcache_watch *watch, int milliseconds) {
    struct pollfd poller = {.fd = iconcache_watch_descriptor(watch), .events = POLLIN};
    return poll(&poller, 1, milliseconds) == 1;
}

static void test_watch(const char *folder) {
    if (chdir(folder) != 0 || mkdir("lists", 0777) != 0) exit(1);
    iconcache *cache;
    iconcache_watch *watch;
    if (iconcache_new(folder, &cache, NULL) != ICONCACHE_OK) exit(1);
    check(iconcache_watch_new(cache, &watch, NULL) == ICONCACHE_OK, "watch", "of no cache");
    check_change(watch, ICONCACHE_ABSENT, 0);
    publish("1", "one");
    check(is_readable(watch, 5000), "descriptor", "after a publication");
    check_change(watch, ICONCACHE_OK, ICONCACHE_LIST_ADDED);
    check_change(watch, ICONCACHE_OK, ICONCACHE_ICON_READY);
    check_change(watch, ICONCACHE_ABSENT, 0);
    /* An error of a manifest is reported once, also to a loop that ends at ICONCACHE_ABSENT only. */
    for (int i = 0; i < 2; i++) {
        publish_damage();
        check_change(watch, ICONCACHE_DAMAGED, 0);
        for (int j = 0; j < 10; j++) check_change(watch, ICONCACHE_ABSENT, 0);
    }
    /* And again when two seconds have passed. */
    check(!is_readable(watch, 1000), "descriptor", "right after an error");
    check_change(watch, ICONCACHE_ABSENT, 0);
    check(is_readable(watch, 5000), "descriptor", "some time after an error");
    check_change(watch, ICONCACHE_DAMAGED, 0);
    check_change(watch, ICONCACHE_ABSENT, 0);
    publish("2", "two");
    check_change(watch, ICONCACHE_OK, ICONCACHE_LIST_CHANGED);
    check_change(watch, ICONCACHE_OK, ICONCACHE_ICON_REPLACED);
    check_change(watch, ICONCACHE_ABSENT, 0);
    /* The watch ends amid the changes of a publication. */
    publish("3", "three");
    check_change(watch, ICONCACHE_OK, ICONCACHE_LIST_CHANGED);
    iconcache_watch_free(watch);
    iconcache_free(cache);
    if (system("rm -r lists manifest.json") != 0) exit(1);
}

int main(void) {
    char folder[] = "/tmp/iconcache-unit-XXXXXX";
    if (mkdtemp(folder) == NULL) return 1;
    test_digests();
    test_texts();
    test_numbers();
    test_values();
    test_times();
    test_numbers_of_documents();
    test_files(folder);
    test_folders(folder);
    test_paths(folder);
    test_nulls(folder);
    test_watch(folder);
    rmdir(folder);
    printf(failures == 0 ? "All tests passed.\n" : "%d failures.\n", failures);
    return failures == 0 ? 0 : 1;
}
