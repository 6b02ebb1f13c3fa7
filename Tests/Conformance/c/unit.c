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
#include "size.h"

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

/* MARK: Renditions */

static void check_size(const char *text, uint32_t pixels) {
    struct size size = {0};
    char written[SIZE_LENGTH + 1];
    check(size_read(text, &size) == (pixels != 0), "size", text);
    if (pixels == 0) return;
    check(size.pixels == pixels, "pixels of a size", text);
    size_write(size, written);
    check(strcmp(written, text) == 0, "size, written again", written);
    check(size_index(size) < SIZE_COUNT, "index of a size", text);
}

static void test_sizes(void) {
    static const struct {
        const char *text;
        uint32_t pixels; /* 0: it is no size */
    } sizes[] = {
        {"8", 8}, {"64", 64}, {"64@2", 128}, {"8@4", 32}, {"1024", 1024}, {"1024@4", 4096}, {"999@3", 2997}, {"", 0},
        {"7", 0}, {"1025", 0}, {"1025@2", 0}, {"064", 0}, {"0064", 0}, {"00064", 0}, {"10240", 0}, {"64@", 0},
        {"64@1", 0}, {"64@5", 0}, {"64@0", 0}, {"64@02", 0}, {"64@22", 0}, {"64@2@2", 0}, {"64.", 0}, {" 64", 0},
        {"64 ", 0}, {"+64", 0}, {"-64", 0}, {"@2", 0}, {"@", 0}, {"x", 0}, {"99999999999999999999", 0},
        {"\xD9\xA6\xD9\xA4", 0}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) check_size(sizes[i].text, sizes[i].pixels);
    struct size one = {.pixels = 128, .scale = 1}, two = {.pixels = 128, .scale = 2};
    struct size more = {.pixels = 129, .scale = 1};
    check(size_compare(one, two) < 0 && size_compare(two, one) > 0 && size_compare(one, one) == 0, "sizes", "by scale");
    check(size_compare(two, more) < 0 && size_compare(more, two) > 0, "sizes", "by pixels");
    bool seen[SIZE_COUNT] = {false};
    for (uint32_t side = SIZE_LEAST; side <= SIZE_MOST; side++) {
        for (uint32_t scale = 1; scale <= SCALE_MOST; scale++) {
            uint32_t index = size_index((struct size){.pixels = side * scale, .scale = scale});
            check(index < SIZE_COUNT && !seen[index], "index of a size", "is that of another one");
            if (index < SIZE_COUNT) seen[index] = true;
        }
    }
}

static const char abc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

/* Whether the text of renditions is valid in an entry of a status, whose keys are in this order or the other way. */
static bool are_renditions(const char *status, const char *renditions, bool is_reversed) {
    char text[8192], first[4096], second[512];
    const char *reason;
    struct document document;
    snprintf(first, sizeof first, "\"renditions\":%s", renditions);
    snprintf(second, sizeof second,
        "\"icon\":\"u\",\"status\":\"%s\",\"error\":\"e\",\"path\":\"icons/ba/%s.png\",\"sha256\":\"%s\",\"bytes\":1,"
        "\"type\":\"image/png\",\"width\":1,\"height\":1",
        status, abc, abc);
    int size = snprintf(text, sizeof text,
        "{\"format\":1,\"list\":\"a\",\"source\":{\"sha256\":\"%s\",\"bytes\":1,"
        "\"modified\":\"2026-11-21T02:44:50Z\"},\"apps\":[{%s,%s}]}",
        abc, is_reversed ? first : second, is_reversed ? second : first);
    return document_read(&document, text, (size_t)size, &reason);
}

static void check_renditions(const char *format, bool is_right) {
    char good[512], text[4096];
    snprintf(good, sizeof good,
        "{\"path\":\"icons/ba/%s.png\",\"sha256\":\"%s\",\"bytes\":1,\"width\":1,\"height\":1}", abc, abc);
    snprintf(text, sizeof text, format, good, good, good);
    for (int is_reversed = 0; is_reversed < 2; is_reversed++) {
        check(are_renditions("ready", text, is_reversed) == is_right, "renditions", format);
        /* They mean nothing in an entry without an image. */
        check(are_renditions("pending", text, is_reversed), "renditions of a pending entry", format);
        check(are_renditions("failed", text, is_reversed), "renditions of a failed entry", format);
    }
}

static void test_renditions(void) {
    static const struct {
        const char *format;
        bool is_right;
    } rows[] = {
        {"null", true}, {"{}", true}, {"{\"64\":%s}", true}, {"{\"64\":%s,\"64@2\":%s,\"8\":%s}", true},
        {"{\"6\\u0034\":%s}", true}, {"{\"64\":%s,\"64\":3}", true}, {"{\"64\":3,\"64\":%s}", false},
        {"[]", false}, {"3", false}, {"\"64\"", false}, {"{\"7\":%s}", false}, {"{\"64\":%s,\"x\":%s}", false},
        {"{\"64\":null}", false}, {"{\"64\":{}}", false}, {"{\"64\":[%s]}", false},
        {"{\"64\\u0000\":%s}", false}, {"{\"\":%s}", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) check_renditions(rows[i].format, rows[i].is_right);
    check(!are_renditions("pending", "{\"64\":}", false), "renditions", "that are not JSON");
    check(!are_renditions("ready", "{\"64\":{\"path\":\"x\"}", false), "renditions", "without an end");
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

static void check_path(const iconcache *cache, const char *url, uint32_t pixels, const char *expected) {
    char path[512];
    iconcache_error error;
    int code = iconcache_path_for_pixels(cache, url, pixels, path, iconcache_path_size(cache), &error);
    check(code == (expected == NULL ? ICONCACHE_ABSENT : ICONCACHE_OK), "path for pixels", expected);
    check(strcmp(path, expected == NULL ? "" : expected) == 0, "path for pixels", path);
    int file = iconcache_open_for_pixels(cache, url, pixels, &error);
    check((file >= 0) == (expected != NULL) && (file >= 0 || error.code == ICONCACHE_ABSENT), "image for pixels", path);
    if (file >= 0) close(file);
}

/* The URL has an image at `own`, and then a rendition of the longest name. */
static void test_paths_of_renditions(const iconcache *cache, const char *url, const char *own) {
    char name[256], command[512];
    check_path(cache, url, 0, own);
    check_path(cache, url, 1, own);
    check_path(cache, url, UINT32_MAX, own);
    check_path(cache, "https://example.com/", 64, NULL);
    const char *folder = iconcache_folder(cache);
    snprintf(name, sizeof name, "%s/by-size/1024@4/%s", folder, strstr(own, "by-url/") + strlen("by-url/"));
    snprintf(command, sizeof command, "mkdir -p %s/by-size/x %s/by-size/64@2 $(dirname %s)", folder, folder, name);
    if (system(command) != 0) exit(1);
    write_file(name, "rendition");
    check(strlen(name) + 1 == iconcache_path_size(cache), "size", "of the longest path");
    check_path(cache, url, 0, own);
    check_path(cache, url, 1, name);
    check_path(cache, url, 4096, name);
    check_path(cache, url, 4097, own);
    check_path(cache, url, UINT32_MAX, own);
    check_path(cache, "https://example.com/", 64, NULL);
    snprintf(command, sizeof command, "rm -r %s/by-size", folder);
    if (system(command) != 0) exit(1);
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
    /* Names of renditions are longer: by-size/1024@4 in place of by-url. */
    size_t longer = sizeof "by-size/1024@4" - sizeof "by-url";
    check(size == strlen(expected) + 1 + longer, "size", "of a path");
    snprintf(name, sizeof name, "%s/by-url", folder);
    if (mkdir(name, 0777) != 0) exit(1);
    snprintf(name, sizeof name, "%s/by-url/24", folder);
    if (mkdir(name, 0777) != 0) exit(1);
    write_file(expected, "image");
    check(iconcache_path(cache, url, path, size, NULL) == ICONCACHE_OK && strcmp(path, expected) == 0, "path", path);
    size_t least = strlen(expected) + 1;
    check(iconcache_path(cache, url, path, least, NULL) == ICONCACHE_OK, "path", "in a buffer of its size");
    check(iconcache_path(cache, url, path, least - 1, NULL) == ICONCACHE_INVALID, "path", "in a small buffer");
    check(iconcache_path_for_pixels(cache, url, 64, path, size - 1, NULL) == ICONCACHE_INVALID && path[0] == '\0',
        "path", "of a rendition in a small buffer");
    int file = iconcache_open(cache, url, &error);
    check(file >= 0, "image", "opened");
    close(file);
    test_paths_of_renditions(cache, url, expected);

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
    check(iconcache_path_for_pixels(NULL, "a", 64, path, sizeof path, NULL) == ICONCACHE_INVALID, "NULL", "for pixels");
    check(iconcache_open_for_pixels(NULL, "a", 64, NULL) == ICONCACHE_INVALID, "NULL", "open for pixels");
    check(iconcache_app_image_for_pixels(NULL, 64) == NULL, "NULL", "image for pixels");
    iconcache_snapshot *snapshot = (iconcache_snapshot *)path;
    check(iconcache_snapshot_new(NULL, &snapshot, NULL) == ICONCACHE_INVALID && snapshot == NULL, "NULL", "snapshot");
    check(iconcache_snapshot_generation(NULL) == -1 && !iconcache_snapshot_is_leased(NULL), "NULL", "generation");
    check(iconcache_snapshot_lists(NULL) == 0 && iconcache_snapshot_list(NULL, 0) == NULL, "NULL", "lists");
    check(iconcache_snapshot_open(NULL, NULL, NULL) == ICONCACHE_INVALID, "NULL", "image");
    iconcache_apps *apps = (iconcache_apps *)path;
    check(iconcache_apps_new(NULL, "a", &apps, NULL) == ICONCACHE_INVALID && apps == NULL, "NULL", "apps");
    check(iconcache_apps_of_url(NULL, "a", &apps, NULL) == ICONCACHE_INVALID, "NULL", "apps of a URL");
    apps = (iconcache_apps *)path;
    check(iconcache_apps_of_name(NULL, "a", &apps, NULL) == ICONCACHE_INVALID, "NULL", "apps of a name");
    check(apps == NULL, "NULL", "result of a look-up");
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

/* MARK: Entries */

struct list_of_apps {
    const char *name;
    const char *apps; /* the text of the entries */
    int count;        /* of the manifest */
};

/* Writes the document of a list in the current directory, and the digest of that. */
static void write_document(const char *list, const char *apps, char digits[SHA256_DIGITS + 1]) {
    char document[4096], name[128];
    unsigned char digest[SHA256_SIZE];
    snprintf(document, sizeof document,
        "{\"format\":1,\"list\":\"%s\",\"source\":{\"sha256\":\"%s\",\"bytes\":1,"
        "\"modified\":\"2026-11-21T02:44:50Z\"},\"apps\":[%s]}",
        list, abc, apps);
    sha256(document, strlen(document), false, digest);
    sha256_write_digits(digest, digits);
    digits[SHA256_DIGITS] = '\0';
    snprintf(name, sizeof name, "lists/%s.json", digits);
    write_file(name, document);
}

/* Publishes lists in the current directory. */
static void publish_lists(const struct list_of_apps *lists, size_t count) {
    char manifest[4096], digits[SHA256_DIGITS + 1];
    size_t length = (size_t)snprintf(manifest, sizeof manifest,
        "{\"format\":1,\"generation\":1,\"published\":\"2026-11-21T02:44:52Z\",\"lists\":{");
    for (size_t i = 0; i < count; i++) {
        write_document(lists[i].name, lists[i].apps, digits);
        length += (size_t)snprintf(manifest + length, sizeof manifest - length,
            "%s\"%s\":{\"sha256\":\"%s\",\"apps\":%d,\"ready\":1,\"pending\":0,\"failed\":0}",
            i == 0 ? "" : ",", lists[i].name, digits, lists[i].count);
    }
    snprintf(manifest + length, sizeof manifest - length, "}}");
    write_file("manifest.json", manifest);
}

/* Publishes a list of these entries in the current directory. */
static void publish_apps(const char *apps) { publish_lists(&(struct list_of_apps){"a", apps, 1}, 1); }

static iconcache_snapshot *snapshot_of(const iconcache *cache) {
    iconcache_snapshot *snapshot;
    if (iconcache_snapshot_new(cache, &snapshot, NULL) != ICONCACHE_OK) exit(1);
    return snapshot;
}

static iconcache *cache_at(const char *folder) {
    iconcache *cache;
    if (iconcache_new(folder, &cache, NULL) != ICONCACHE_OK) exit(1);
    return cache;
}

static void check_image(const iconcache_app *app, uint32_t pixels, uint64_t bytes) {
    char what[64];
    const iconcache_image *image = iconcache_app_image_for_pixels(app, pixels);
    snprintf(what, sizeof what, "for %u pixels", (unsigned)pixels);
    check(image != NULL && image->bytes == bytes, "image of an entry", what);
}

static void check_entry_with_renditions(const iconcache_snapshot *snapshot, const iconcache_app *app) {
    static const char *const sizes[] = {"8", "64", "128", "64@2", "1024@4"};
    static const uint32_t pixels[] = {8, 64, 128, 128, 4096};
    iconcache_error error;
    check(app != NULL && app->renditions_count == 5, "renditions", "of an entry");
    for (size_t i = 0; app != NULL && i < app->renditions_count && i < 5; i++) {
        const iconcache_rendition *rendition = app->renditions[i];
        const iconcache_image *image = rendition->image;
        bool is_right = strcmp(rendition->size, sizes[i]) == 0 && rendition->pixels == pixels[i]
            && image->bytes == 10 + i && strcmp(image->type, "image/png") == 0 && strcmp(image->sha256, abc) == 0
            && image->width == (i == 0 ? UINT32_MAX : 3) && image->height == 2 && image->path[0] == '/';
        check(is_right, "rendition", sizes[i]);
        int file = iconcache_snapshot_open(snapshot, image, &error);
        check(file == ICONCACHE_UNREADABLE && error.system_error == ENOENT, "rendition, opened", sizes[i]);
    }
    check_image(app, 0, 1);
    check_image(app, 1, 10);
    check_image(app, 9, 11);
    check_image(app, 128, 12);
    check_image(app, 129, 14);
    check_image(app, 4097, 1);
}

/* Entries of which only the second one has renditions, in another order than that of their sizes. */
static void test_entries_with_renditions(const char *folder) {
    char apps[3072] = "", part[512];
    if (chdir(folder) != 0 || mkdir("lists", 0777) != 0) exit(1);
    static const char *const sizes[] = {"1024@4", "64@2", "128", "8", "64"};
    static const int bytes[] = {14, 13, 12, 10, 11};
    for (int i = 0; i < 3; i++) {
        snprintf(part, sizeof part,
            "%s{\"icon\":\"%d\",\"status\":\"ready\",\"path\":\"icons/ba/%s.png\",\"sha256\":\"%s\",\"bytes\":1,"
            "\"type\":\"image/svg+xml\",\"width\":1,\"height\":1%s",
            i == 0 ? "" : ",", i, abc, abc, i == 1 ? ",\"renditions\":{" : "}");
        strcat(apps, part);
        for (int j = 0; i == 1 && j < 5; j++) {
            snprintf(part, sizeof part,
                "%s\"%s\":{\"path\":\"icons/ba/%s.png\",\"sha256\":\"%s\",\"bytes\":%d,\"width\":%s,\"height\":2}%s",
                j == 0 ? "" : ",", sizes[j], abc, abc, bytes[j], j == 3 ? "4294967296" : "3", j == 4 ? "}}" : "");
            strcat(apps, part);
        }
    }
    publish_apps(apps);
    iconcache *cache;
    iconcache_snapshot *snapshot;
    iconcache_apps *list;
    bool is_open = iconcache_new(folder, &cache, NULL) == ICONCACHE_OK
        && iconcache_snapshot_new(cache, &snapshot, NULL) == ICONCACHE_OK;
    if (!is_open) exit(1);
    check(iconcache_apps_new(snapshot, "a", &list, NULL) == ICONCACHE_OK, "list", "with renditions");
    for (int i = 0; i < 3; i++) {
        const iconcache_app *app = iconcache_apps_next(list);
        if (i == 1) {
            check_entry_with_renditions(snapshot, app);
            continue;
        }
        check(app != NULL && app->renditions_count == 0 && app->renditions == NULL, "renditions", "of another entry");
        check_image(app, 64, 1);
    }
    iconcache_apps_free(list);
    check(iconcache_apps_of_url(snapshot, "1", &list, NULL) == ICONCACHE_OK, "entry", "with renditions");
    check_entry_with_renditions(snapshot, iconcache_apps_next(list));
    iconcache_apps_free(list);
    iconcache_snapshot_free(snapshot);
    iconcache_free(cache);
    if (system("rm -r lists manifest.json") != 0) exit(1);
}

/* MARK: Look-ups by name */

/* The members that a ready entry needs after its icon. */
#define IMAGE(suffix) "\"status\":\"ready\",\"path\":\"icons/ba/" \
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad.png\",\"sha256\":\"" \
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\",\"bytes\":1,\"type\":\"image/png\"," \
    "\"width\":1,\"height\":1" suffix

/* Icons of the entries of a name, in their order, each after a space. */
static void check_name(const iconcache_snapshot *snapshot, const char *name, const char *expected) {
    char icons[256] = "";
    iconcache_apps *apps;
    iconcache_error error = {0};
    int code = iconcache_apps_of_name(snapshot, name, &apps, &error);
    check(code == (expected[0] == '\0' ? ICONCACHE_ABSENT : ICONCACHE_OK) && code == error.code, "name", name);
    for (int round = 0; code == ICONCACHE_OK && round < 2; round++) {
        const iconcache_app *app;
        icons[0] = '\0';
        while ((app = iconcache_apps_next(apps)) != NULL) {
            check(app->name != NULL && strcmp(app->name, name) == 0, "entry of another name", name);
            strcat(strcat(icons, " "), app->icon);
        }
        check(strcmp(icons, expected) == 0, "entries of a name", icons);
        iconcache_apps_rewind(apps);
    }
    iconcache_apps_free(apps);
}

static void test_names(const char *folder) {
    if (chdir(folder) != 0 || mkdir("lists", 0777) != 0) exit(1);
    static const struct list_of_apps lists[] = {
        /* Not in the order of their names. */
        {"b", "{\"name\":\"Mail\",\"icon\":\"b-own\"," IMAGE("") "},"
            " {\"name\":\"Mail\",\"icon\":\"b-previous\"," IMAGE(",\"previous\":\"p\",\"error\":\"e\"") "}", 2},
        {"a", "{\"name\":\"Maps\",\"icon\":\"a-maps\",\"status\":\"pending\"},"
            "{\"name\":\"M\\u0061il\",\"icon\":\"a-pending\",\"status\":\"pending\"},"
            "{\"icon\":\"a-nameless\",\"status\":\"pending\"},"
            "{\"name\":\"Mail\",\"icon\":\"a-own\"," IMAGE("") "},"
            "{\"name\":\"Mail \",\"icon\":\"a-space\"," IMAGE("") "},"
            "{\"name\":\"Mail\",\"icon\":\"a-failed\",\"status\":\"failed\",\"error\":\"http-404\"},"
            "{\"name\":\"\",\"icon\":\"a-empty\",\"status\":\"pending\"},"
            "{\"name\":\"Mail\",\"icon\":\"a-again\"," IMAGE("") "}", 8}};
    publish_lists(lists, 2);
    iconcache *cache = cache_at(folder);
    iconcache_snapshot *snapshot = snapshot_of(cache);
    check_name(snapshot, "Mail", " a-own a-again b-own b-previous a-pending a-failed");
    check_name(snapshot, "Maps", " a-maps");
    check_name(snapshot, "Mail ", " a-space");
    check_name(snapshot, "mail", "");
    check_name(snapshot, "Ma", "");
    check_name(snapshot, "", " a-empty");
    iconcache_snapshot_free(snapshot);
    publish_lists(lists, 0);
    snapshot = snapshot_of(cache);
    check_name(snapshot, "Mail", "");
    iconcache_snapshot_free(snapshot);
    iconcache_free(cache);
    if (system("rm -r lists manifest.json") != 0) exit(1);
}

/* MARK: Messages */

static void check_message(const iconcache_error *error, int code, const char *format, const char *folder) {
    char expected[1024];
    snprintf(expected, sizeof expected, format, folder);
    check(error->code == code && strcmp(error->message, expected) == 0, "message", error->message);
}

/* A look-up of a URL without an image tells what the lists say of it. */
static void check_absence(const iconcache *cache, const char *url, const char *format) {
    iconcache_error error = {0};
    char path[512];
    check(iconcache_path(cache, url, path, sizeof path, &error) == ICONCACHE_ABSENT, "absence", url);
    check_message(&error, ICONCACHE_ABSENT, format, iconcache_folder(cache));
    error = (iconcache_error){0};
    check(iconcache_open_for_pixels(cache, url, 64, &error) == ICONCACHE_ABSENT, "absence", url);
    check_message(&error, ICONCACHE_ABSENT, format, iconcache_folder(cache));
    check(iconcache_path(cache, url, path, sizeof path, NULL) == ICONCACHE_ABSENT, "absence", "without an error");
}

static void check_absences(const iconcache *cache) {
    struct list_of_apps list = {"a",
        "{\"icon\":\"http://x/pending\",\"status\":\"pending\"},"
        "{\"icon\":\"http://x/failed\",\"status\":\"failed\",\"error\":\"http-404\"},"
        "{\"icon\":\"http://x/ready\"," IMAGE("") "}", 1000};
    static const char unknown[] = "No app list in %s names http://x/: spell the URL exactly as in the list.";
    static const char unclear[] = "There is no image of http://x/ in %s: no app list names it, or it has not been "
        "downloaded. See: syncagent why URL";
    publish_lists(&list, 1);
    check_absence(cache, "http://x/pending", "http://x/pending has not been downloaded yet.");
    check_absence(cache, "http://x/failed", "http://x/failed could not be downloaded (http-404).");
    check_absence(cache, "http://x/ready",
        "http://x/ready has an image, but its name in by-url/ is missing. If it stays so, run: "
        "syncagent verify --repair");
    check_absence(cache, "http://x/", unknown);
    check_absence(cache, "a\nb", "No app list in %s names a?b: spell the URL exactly as in the list.");
    /* So many entries are not read for a message, nor are those of a damaged document. */
    list.count = 1001;
    publish_lists(&list, 1);
    check_absence(cache, "http://x/", unclear);
    list.count = 3;
    list.apps = "1";
    publish_lists(&list, 1);
    check_absence(cache, "http://x/", unclear);
    /* A long text is cut, but not within a character: “é” has two bytes. */
    char url[1200] = "", format[1400], cut[300] = "";
    for (int i = 0; i < 500; i++) strcat(url, "\xC3\xA9");
    for (int i = 0; i < 126; i++) strcat(cut, "\xC3\xA9");
    snprintf(format, sizeof format, "No app list in %%s names %s…: spell the URL exactly as in the list.", cut);
    publish_lists(&list, 0);
    check_absence(cache, url, format);
}

static void test_messages(const char *folder) {
    if (chdir(folder) != 0 || mkdir("lists", 0777) != 0) exit(1);
    iconcache *cache = cache_at(folder);
    check_absences(cache);

    static const struct list_of_apps lists[] = {{"a", "", 0}, {"b", "", 0}, {"c", "", 0}, {"d", "", 0}, {"e", "", 0}};
    static const char *const others[] = {"no list", "a", "a, b", "a, b, c", "a, b, c and 1 more", "a, b, c and 2 more"};
    iconcache_error error = {0};
    iconcache_apps *apps;
    for (size_t count = 0; count <= 5; count++) {
        char format[256];
        snprintf(format, sizeof format,
            "There is no app list “x” in %%s, or no accepted version of it yet. There is %s.", others[count]);
        publish_lists(lists, count);
        iconcache_snapshot *snapshot = snapshot_of(cache);
        check(iconcache_apps_new(snapshot, "x", &apps, &error) == ICONCACHE_ABSENT && apps == NULL, "list", "unknown");
        check_message(&error, ICONCACHE_ABSENT, format, folder);
        check(iconcache_apps_of_url(snapshot, "u", &apps, &error) == ICONCACHE_ABSENT, "URL", "unknown");
        check_message(
            &error, ICONCACHE_ABSENT, "No app list in %s names u: spell the URL exactly as in the list.", folder);
        check(iconcache_apps_of_name(snapshot, "n", &apps, &error) == ICONCACHE_ABSENT, "name", "unknown");
        check_message(&error, ICONCACHE_ABSENT, "No app list in %s has an app named “n”.", folder);
        iconcache_image image = {.path = "/elsewhere/x.png"};
        iconcache_snapshot_open(snapshot, &image, &error);
        check_message(&error, ICONCACHE_INVALID, "/elsewhere/x.png is no image of the cache in %s.", folder);
        check(iconcache_apps_new(snapshot, NULL, &apps, &error) == ICONCACHE_INVALID, "list", "NULL");
        check_message(&error, ICONCACHE_INVALID, "The argument “list” is NULL.", folder);
        iconcache_snapshot_free(snapshot);
    }
    char path[4];
    iconcache_path_for_pixels(cache, "u", 64, path, 4, &error);
    char format[128];
    snprintf(format, sizeof format, "The buffer has 4 bytes, and the path needs %zu.", iconcache_path_size(cache));
    check_message(&error, ICONCACHE_INVALID, format, folder);
    iconcache_path_or(cache, "u", "four", path, 4, &error);
    check_message(&error, ICONCACHE_INVALID, "The buffer has 4 bytes, and the placeholder needs 5.", folder);
    iconcache_free(cache);
    if (system("rm -r lists manifest.json") != 0) exit(1);
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
    check(iconcache_version() == ICONCACHE_VERSION, "version", "of the library");
    char folder[] = "/tmp/iconcache-unit-XXXXXX";
    if (mkdtemp(folder) == NULL) return 1;
    test_digests();
    test_texts();
    test_numbers();
    test_values();
    test_times();
    test_numbers_of_documents();
    test_sizes();
    test_renditions();
    test_files(folder);
    test_folders(folder);
    test_paths(folder);
    test_nulls(folder);
    test_entries_with_renditions(folder);
    test_names(folder);
    test_messages(folder);
    test_watch(folder);
    rmdir(folder);
    printf(failures == 0 ? "All tests passed.\n" : "%d failures.\n", failures);
    return failures == 0 ? 0 : 1;
}
