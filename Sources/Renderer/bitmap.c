// SPDX-License-Identifier: Apache-2.0
// BMP files, and the bitmaps of .ico files.
#include <stdlib.h>
#include <string.h>

#include "decoders.h"

enum {
    FILE_HEADER = 14,
    CORE_HEADER = 12,
    INFO_HEADER = 40,
    V2_HEADER = 52,
    V3_HEADER = 56,
    OS2_HEADER = 64,
    V5_HEADER = 124,
};

enum compression { PLAIN = 0, RLE8 = 1, RLE4 = 2, MASKS = 3, MASKS_WITH_ALPHA = 6 };

enum { PROFILE_IS_EMBEDDED = 0x4d424544 };

// A place that a run-length encoding leaves out.
enum { UNSET = 256 };

struct bitmap {
    const uint8_t *bytes;
    size_t length;
    bool is_icon, is_top_down;
    uint32_t width, height, depth, compression;
    // Where things begin in `bytes`.
    size_t header, pixels, mask;
    size_t stride, mask_stride;
    uint8_t palette[256][4];
    // For pixels without a palette: which bits a channel has, and what to do with them to get 0…255.
    struct channel {
        uint32_t mask, shift;
        uint8_t levels[256];
    } channels[4];
    bool has_alpha;
    // The decoded places of a run-length encoding, or NULL.
    uint16_t *runs;
};

static uint32_t get16(const uint8_t *from) { return from[0] | (uint32_t)from[1] << 8; }

static uint32_t get32(const uint8_t *from) { return get16(from) | get16(from + 2) << 16; }

static bool refuse_short(struct picture *picture) { return picture_refuse(picture, DAMAGED, "its data ends early"); }

static bool set_mask(struct channel *channel, uint32_t mask) {
    channel->mask = mask;
    if (mask == 0) return true;
    while ((mask & 1) == 0) {
        mask >>= 1;
        channel->shift++;
    }
    if ((mask & (mask + 1)) != 0) return false;
    // Of longer ones the 8 highest bits are enough.
    while (mask > 255) {
        mask >>= 1;
        channel->shift++;
    }
    for (uint32_t i = 0; i <= mask; i++) channel->levels[i] = (uint8_t)((i * 255 + mask / 2) / mask);
    channel->mask = mask;
    return true;
}

// Reads the masks of red, green, blue and alpha; `end` moves behind those that follow a short header.
static bool read_masks(struct picture *picture, struct bitmap *bitmap, uint32_t header_size, size_t *end) {
    uint32_t masks[4] = {0xff0000, 0xff00, 0xff, bitmap->is_icon ? 0xff000000 : 0};
    if (bitmap->depth == 16) memcpy(masks, (const uint32_t[]){0x7c00, 0x3e0, 0x1f, 0}, sizeof masks);
    if (bitmap->compression != PLAIN) {
        bool has_alpha = header_size >= V3_HEADER || bitmap->compression == MASKS_WITH_ALPHA;
        size_t count = has_alpha ? 4 : 3, offset = bitmap->header + INFO_HEADER;
        if (bitmap->length - offset < count * 4) return refuse_short(picture);
        masks[3] = 0;
        for (size_t i = 0; i < count; i++) masks[i] = get32(bitmap->bytes + offset + i * 4);
        if (offset + count * 4 > *end) *end = offset + count * 4;
    }
    for (int i = 0; i < 4; i++) {
        if (set_mask(&bitmap->channels[i], masks[i])) continue;
        return picture_refuse(picture, DAMAGED, "its bit masks have holes");
    }
    return true;
}

static bool read_palette(struct picture *picture, struct bitmap *bitmap, size_t *end, size_t used, size_t entry) {
    size_t most = (size_t)1 << bitmap->depth, count = used == 0 || used > most ? most : used;
    // In a file the pixels say where the palette ends.
    size_t limit = bitmap->is_icon || bitmap->pixels > bitmap->length ? bitmap->length : bitmap->pixels;
    size_t room = limit > *end ? (limit - *end) / entry : 0;
    if (room < count) {
        if (bitmap->is_icon || room == 0) return refuse_short(picture);
        count = room;
    }
    for (size_t i = 0; i < 256; i++) {
        const uint8_t *from = bitmap->bytes + *end + i * entry;
        uint8_t *to = bitmap->palette[i];
        to[3] = 255;
        if (i >= count) continue;
        to[0] = from[2];
        to[1] = from[1];
        to[2] = from[0];
    }
    *end += count * entry;
    return true;
}

static bool is_known(const struct bitmap *bitmap) {
    uint32_t depth = bitmap->depth;
    switch (bitmap->compression) {
    case PLAIN: return depth == 1 || depth == 2 || depth == 4 || (depth > 0 && depth % 8 == 0 && depth <= 32);
    case RLE8: return depth == 8 && !bitmap->is_top_down;
    case RLE4: return depth == 4 && !bitmap->is_top_down;
    case MASKS:
    case MASKS_WITH_ALPHA: return depth == 16 || depth == 32;
    default: return false;
    }
}

static uint32_t magnitude(uint32_t value) { return value > INT32_MAX ? 0 - value : value; }

// Reads everything before the pixels.
static bool read_header(struct picture *picture, struct bitmap *bitmap) {
    const uint8_t *bytes = bitmap->bytes + bitmap->header;
    if (bitmap->length - bitmap->header < CORE_HEADER) return refuse_short(picture);
    uint32_t size = get32(bytes), used = 0;
    if (size > bitmap->length - bitmap->header) return refuse_short(picture);
    if (size == CORE_HEADER) {
        bitmap->width = get16(bytes + 4);
        bitmap->height = get16(bytes + 6);
        bitmap->depth = get16(bytes + 10);
    } else if (size == INFO_HEADER || size == V2_HEADER || (size >= V3_HEADER && size <= V5_HEADER)) {
        bitmap->width = get32(bytes + 4);
        bitmap->is_top_down = get32(bytes + 8) > INT32_MAX;
        bitmap->height = magnitude(get32(bytes + 8));
        bitmap->depth = get16(bytes + 14);
        bitmap->compression = get32(bytes + 16);
        used = get32(bytes + 32);
    } else {
        return picture_refuse(picture, UNSUPPORTED, "its header has an unknown length");
    }
    if (bitmap->is_icon) bitmap->height /= 2;
    if (!picture_judge(picture, bitmap->width, bitmap->height)) return false;
    // OS/2 gives other meanings to the numbers.
    if (!is_known(bitmap) || (size == OS2_HEADER && bitmap->compression >= MASKS)) {
        return picture_refuse(
            picture, UNSUPPORTED, "its compression %u with %u bits a pixel is not supported", bitmap->compression,
            bitmap->depth);
    }

    size_t end = bitmap->header + size, entry = size == CORE_HEADER ? 3 : 4;
    if (bitmap->depth > 8) {
        if (bitmap->depth != 24 && !read_masks(picture, bitmap, size, &end)) return false;
        // A palette of suggested colours.
        if (used <= 256) end += used * entry;
    } else if (!read_palette(picture, bitmap, &end, used, entry)) {
        return false;
    }
    if (bitmap->is_icon) bitmap->pixels = end;
    bool has_profile = size == V5_HEADER && get32(bytes + 56) == PROFILE_IS_EMBEDDED;
    if (has_profile) {
        size_t offset = get32(bytes + 112), length = get32(bytes + 116), room = bitmap->length - bitmap->header;
        if (offset <= room && length <= room - offset) {
            picture_set_colour(picture, colour_from_profile(MODEL_RGB, bytes + offset, length));
        }
    }
    return true;
}

static bool read_runs(struct picture *picture, struct bitmap *bitmap) {
    uint32_t width = bitmap->width, height = bitmap->height, x = 0, y = 0;
    bitmap->runs = malloc((size_t)width * height * sizeof *bitmap->runs);
    if (bitmap->runs == NULL) return picture_refuse_memory(picture);
    for (size_t i = 0; i < (size_t)width * height; i++) bitmap->runs[i] = UNSET;
    bool is_nibbles = bitmap->compression == RLE4;
    const uint8_t *next = bitmap->bytes + bitmap->pixels;
    size_t left = bitmap->length - bitmap->pixels;
    for (;;) {
        // Some programs leave out the mark at the end.
        if (y >= height || (y == height - 1 && x >= width && left < 2)) return true;
        if (left < 2) return refuse_short(picture);
        uint32_t count = next[0], code = next[1];
        next += 2;
        left -= 2;
        bool is_literal = count == 0 && code >= 3;
        if (count == 0 && code == 0) {
            x = 0;
            y++;
            continue;
        }
        if (count == 0 && code == 1) return true;
        if (count == 0 && code == 2) {
            if (left < 2) return refuse_short(picture);
            x += next[0];
            y += next[1];
            next += 2;
            left -= 2;
            if (x > width) return picture_refuse(picture, DAMAGED, "it moves out of its rows");
            continue;
        }
        if (is_literal) count = code;
        size_t used = !is_literal ? 0 : is_nibbles ? (count + 1) / 2 : count;
        // Padded to whole words.
        size_t padded = used + (used & 1);
        if (left < used) return refuse_short(picture);
        for (uint32_t i = 0; i < count && x < width; i++, x++) {
            uint32_t value = !is_literal ? code : is_nibbles ? next[i / 2] : next[i];
            if (is_nibbles) value = i % 2 == 0 ? value >> 4 : value & 15;
            bitmap->runs[(size_t)y * width + x] = (uint16_t)value;
        }
        if (padded > left) padded = left;
        next += padded;
        left -= padded;
    }
}

// Rows are numbered as they are stored.
static void read_row(const struct bitmap *bitmap, uint32_t stored, uint8_t *rgba) {
    const uint8_t *from = bitmap->bytes + bitmap->pixels + stored * bitmap->stride;
    uint32_t depth = bitmap->depth;
    for (uint32_t x = 0; x < bitmap->width; x++, rgba += 4) {
        if (depth <= 8) {
            uint32_t bit = x * depth, index = from[bit / 8] >> (8 - depth - bit % 8);
            memcpy(rgba, bitmap->palette[index & ((1u << depth) - 1)], 4);
        } else if (depth == 24) {
            rgba[0] = from[x * 3 + 2];
            rgba[1] = from[x * 3 + 1];
            rgba[2] = from[x * 3];
            rgba[3] = 255;
        } else {
            uint32_t pixel = depth == 16 ? get16(from + (size_t)x * 2) : get32(from + (size_t)x * 4);
            for (int i = 0; i < 4; i++) {
                const struct channel *channel = &bitmap->channels[i];
                rgba[i] = channel->levels[pixel >> channel->shift & channel->mask];
            }
            if (!bitmap->has_alpha) rgba[3] = 255;
        }
    }
}

static void read_run_row(const struct bitmap *bitmap, uint32_t stored, uint8_t *rgba) {
    const uint16_t *from = bitmap->runs + (size_t)stored * bitmap->width;
    for (uint32_t x = 0; x < bitmap->width; x++, rgba += 4) {
        if (from[x] == UNSET) {
            memset(rgba, 0, 4);
        } else {
            memcpy(rgba, bitmap->palette[from[x]], 4);
        }
    }
}

// An alpha channel that is zero everywhere is none.
static bool has_alpha(const struct bitmap *bitmap, uint8_t *row) {
    if (bitmap->depth < 16 || bitmap->depth == 24 || bitmap->channels[3].mask == 0) return false;
    struct bitmap with_alpha = *bitmap;
    with_alpha.has_alpha = true;
    for (uint32_t y = 0; y < bitmap->height; y++) {
        read_row(&with_alpha, y, row);
        for (uint32_t x = 0; x < bitmap->width; x++) {
            if (row[x * 4 + 3] != 0) return true;
        }
    }
    return false;
}

// Of an icon; it may be missing or end early.
static void apply_mask(const struct bitmap *bitmap, uint32_t stored, uint8_t *rgba) {
    size_t begin = bitmap->mask + stored * bitmap->mask_stride;
    if (begin > bitmap->length || bitmap->length - begin < (bitmap->width + 7) / 8) return;
    const uint8_t *from = bitmap->bytes + begin;
    for (uint32_t x = 0; x < bitmap->width; x++) {
        if ((from[x / 8] >> (7 - x % 8) & 1) != 0) rgba[x * 4 + 3] = 0;
    }
}

static bool read_pixels(struct picture *picture, struct bitmap *bitmap, uint8_t *row) {
    size_t bits = (size_t)bitmap->width * bitmap->depth;
    bitmap->stride = (bits + 31) / 32 * 4;
    bitmap->mask_stride = ((size_t)bitmap->width + 31) / 32 * 4;
    if (bitmap->pixels > bitmap->length) return refuse_short(picture);
    if (bitmap->compression == RLE8 || bitmap->compression == RLE4) {
        if (!read_runs(picture, bitmap)) return false;
        bitmap->mask = bitmap->length;
    } else {
        // The last row may lack its padding.
        size_t needed = bitmap->stride * (bitmap->height - 1) + (bits + 7) / 8;
        if (bitmap->length - bitmap->pixels < needed) return refuse_short(picture);
        bitmap->mask = bitmap->pixels + bitmap->stride * bitmap->height;
        bitmap->has_alpha = has_alpha(bitmap, row);
    }
    if (!picture_begin(picture, MODEL_RGB, 8)) return false;
    for (uint32_t y = 0; y < bitmap->height; y++) {
        uint32_t stored = bitmap->is_top_down ? y : bitmap->height - 1 - y;
        if (bitmap->runs != NULL) {
            read_run_row(bitmap, stored, row);
        } else {
            read_row(bitmap, stored, row);
        }
        if (bitmap->is_icon && !bitmap->has_alpha) apply_mask(bitmap, stored, row);
        picture_add_row(picture, row);
    }
    return true;
}

static bool read_bitmap(struct picture *picture, struct bitmap *bitmap) {
    if (!read_header(picture, bitmap)) return false;
    uint8_t *row = malloc((size_t)bitmap->width * 4);
    bool is_read = row != NULL ? read_pixels(picture, bitmap, row) : picture_refuse_memory(picture);
    free(bitmap->runs);
    free(row);
    return is_read;
}

bool read_bmp(struct picture *picture, const uint8_t *bytes, size_t length) {
    if (length < FILE_HEADER || memcmp(bytes, "BM", 2) != 0) {
        return picture_refuse(picture, DAMAGED, "it does not begin as a BMP");
    }
    struct bitmap bitmap = {.bytes = bytes, .length = length, .header = FILE_HEADER, .pixels = get32(bytes + 10)};
    if (bitmap.pixels < FILE_HEADER + CORE_HEADER) {
        return picture_refuse(picture, DAMAGED, "its pixels are in its header");
    }
    return read_bitmap(picture, &bitmap);
}

bool read_dib(struct picture *picture, const uint8_t *bytes, size_t length) {
    struct bitmap bitmap = {.bytes = bytes, .length = length, .is_icon = true};
    return read_bitmap(picture, &bitmap);
}
