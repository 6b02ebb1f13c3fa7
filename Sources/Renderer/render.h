// SPDX-License-Identifier: Apache-2.0
// A request, its answer, and what turns one into the other. Nothing here opens files or keeps state between requests.
#pragma once

#include <stddef.h>
#include <stdint.h>

// The greeting tells it. Raise it whenever the same image would give other bytes.
enum { RENDERING = 1 };

enum { MOST_SIZES = 16, LARGEST_SIZE = 2048, LONGEST_IMAGE = 64 << 20, LONGEST_REASON = 200 };

enum kind {
    KIND_PNG = 1,
    KIND_JPEG,
    KIND_GIF,
    KIND_WEBP,
    KIND_BMP,
    // A bitmap of an .ico file: no file header, twice the height, then a mask.
    KIND_DIB,
    KIND_AVIF,
    KIND_HEIC,
    KIND_JXL,
};

enum verdict { RENDERED, UNSUPPORTED, DAMAGED, TOO_LARGE };

enum flags { MAY_ENLARGE = 1, FIT_INSIDE = 2, ALL_FLAGS = 3 };

struct request {
    uint32_t kind, flags, count;
    uint32_t sizes[MOST_SIZES];
    uint32_t most_pixels;
    uint32_t length;
    uint8_t *bytes;
};

struct rendition {
    uint32_t width, height;
    // A PNG file.
    uint8_t *bytes;
    size_t length;
};

struct answer {
    enum verdict verdict;
    char reason[LONGEST_REASON + 1];
    struct rendition renditions[MOST_SIZES];
};

// Bit n is set if this program reads kind n.
uint32_t render_kinds(void);

// Prepares the libraries. What they do here may need files; render() needs none.
void render_warm_up(void);

// Fills a zeroed answer, which answer_clear() frees.
void render(const struct request *request, struct answer *answer);
void answer_clear(struct answer *answer);
