// SPDX-License-Identifier: Apache-2.0
#include "png_write.h"

#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static void append(png_structp png, png_bytep bytes, size_t length) {
    struct rendition *rendition = png_get_io_ptr(png);
    uint8_t *longer = realloc(rendition->bytes, rendition->length + length);
    if (longer == NULL) png_error(png, "no memory");
    memcpy(longer + rendition->length, bytes, length);
    rendition->bytes = longer;
    rendition->length += length;
}

static void flush(png_structp png) { (void)png; }

static void on_error(png_structp png, png_const_charp message) {
    (void)message;
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message) {
    (void)png;
    (void)message;
}

static bool is_opaque(const uint8_t *pixels, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (pixels[i * 4 + 3] != 255) return false;
    }
    return true;
}

static bool encode(const uint8_t *pixels, bool has_alpha, int filters, int strategy, struct rendition *rendition) {
    uint32_t width = rendition->width, height = rendition->height;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, on_error, on_warning);
    if (png == NULL) return false;
    png_infop info = png_create_info_struct(png);
    if (info == NULL || setjmp(png_jmpbuf(png)) != 0) {
        png_destroy_write_struct(&png, &info);
        return false;
    }
    png_set_write_fn(png, rendition, append, flush);
    png_set_user_limits(png, LARGEST_SIZE, LARGEST_SIZE);
    // Level 9 takes twice the time of everything else together, for 1 % less.
    png_set_compression_level(png, 6);
    png_set_compression_strategy(png, strategy);
    png_set_compression_buffer_size(png, 64 << 10);
    png_set_filter(png, PNG_FILTER_TYPE_BASE, filters);
    png_set_IHDR(
        png, info, width, height, 8, has_alpha ? PNG_COLOR_TYPE_RGB_ALPHA : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
        PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    // No sRGB chunk: a PNG without one is sRGB for everybody.
    png_write_info(png, info);
    if (!has_alpha) png_set_filler(png, 0, PNG_FILLER_AFTER);
    for (uint32_t y = 0; y < height; y++) png_write_row(png, pixels + (size_t)y * width * 4);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    return true;
}

bool png_write(const uint8_t *pixels, struct rendition *rendition) {
    size_t count = (size_t)rendition->width * rendition->height;
    bool has_alpha = !is_opaque(pixels, count);
    struct rendition plain = *rendition;
    if (!encode(pixels, has_alpha, PNG_ALL_FILTERS, Z_FILTERED, rendition)) return false;
    // Icons of few colours are up to a quarter smaller without filters; photos never are.
    if (rendition->length > count * (has_alpha ? 4 : 3) / 3) return true;
    bool is_written = encode(pixels, has_alpha, PNG_FILTER_NONE, Z_DEFAULT_STRATEGY, &plain);
    if (is_written && plain.length < rendition->length) {
        free(rendition->bytes);
        *rendition = plain;
    } else {
        free(plain.bytes);
    }
    return is_written;
}
