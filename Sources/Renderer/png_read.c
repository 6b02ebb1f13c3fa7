// SPDX-License-Identifier: Apache-2.0
// The default image of an animated PNG is what libpng reads.
#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "decoders.h"

// What ancillary chunks may need, such as a compressed profile.
enum { MOST_MEMORY_OF_CHUNK = 8 << 20 };

struct reader {
    struct picture *picture;
    const uint8_t *next;
    size_t left;
    png_structp png;
    png_infop info;
    // A row, or all rows of an interlaced image.
    uint8_t *rows;
    bool lacks_memory;
};

static void copy_bytes(png_structp png, png_bytep to, size_t length) {
    struct reader *reader = png_get_io_ptr(png);
    if (length > reader->left) png_error(png, "its data ends early");
    memcpy(to, reader->next, length);
    reader->next += length;
    reader->left -= length;
}

static void on_error(png_structp png, png_const_charp message) {
    struct reader *reader = png_get_error_ptr(png);
    if (reader->lacks_memory) {
        picture_refuse_memory(reader->picture);
    } else {
        picture_refuse(reader->picture, DAMAGED, "%s", message);
    }
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message) {
    (void)png;
    (void)message;
}

static png_voidp allocate(png_structp png, png_alloc_size_t size) {
    struct reader *reader = png_get_mem_ptr(png);
    void *memory = malloc(size);
    // Chunks that may be left out are read with warnings instead of errors.
    if (memory == NULL) reader->lacks_memory = true;
    return memory;
}

static void release(png_structp png, png_voidp memory) {
    (void)png;
    free(memory);
}

// As browsers do, and unlike Pillow and GdkPixbuf: gAMA and cHRM count if neither iCCP nor sRGB is there. Icons come
// from the web, and a picture that needs the chunk is visibly too dark or too light without it.
static struct colour *colour(png_structp png, png_infop info, enum model model) {
    if (png_get_valid(png, info, PNG_INFO_sRGB)) return NULL;
    png_charp name;
    png_bytep profile;
    png_uint_32 length;
    int method;
    if (png_get_iCCP(png, info, &name, &method, &profile, &length) != 0) {
        return colour_from_profile(model, profile, length);
    }
    double gamma, xy[8];
    // Without gAMA, cHRM is not enough to know what the colours are.
    if (png_get_gAMA(png, info, &gamma) == 0) return NULL;
    bool has_chromaticities =
        png_get_cHRM(png, info, &xy[0], &xy[1], &xy[2], &xy[3], &xy[4], &xy[5], &xy[6], &xy[7]) != 0;
    return colour_from_gamma(gamma, has_chromaticities ? xy : NULL);
}

static void read_orientation(png_structp png, png_infop info, struct picture *picture) {
    png_uint_32 length;
    png_bytep bytes;
    if (png_get_eXIf_1(png, info, &length, &bytes) != 0) picture->orientation = exif_orientation(bytes, length);
}

// Everything that can jump to on_error()'s target. The reader keeps what must be freed then.
static bool read_all(struct reader *reader) {
    png_structp png = reader->png;
    png_infop info = reader->info;
    struct picture *picture = reader->picture;
    png_read_info(png, info);
    int type = png_get_color_type(png, info);
    bool is_deep = png_get_bit_depth(png, info) == 16;
    enum model model = (type & PNG_COLOR_MASK_COLOR) != 0 ? MODEL_RGB : MODEL_GRAY;
    // Before png_read_update_info(), after which libpng 1.6.48 reports a gamma of its own for a gAMA of 0.
    picture_set_colour(picture, colour(png, info, model));

    png_set_expand(png);
    if (model == MODEL_GRAY) png_set_gray_to_rgb(png);
    png_set_add_alpha(png, is_deep ? 0xffff : 0xff, PNG_FILLER_AFTER);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (is_deep) png_set_swap(png);
#endif
    bool is_interlaced = png_set_interlace_handling(png) > 1;
    png_read_update_info(png, info);
    size_t length = png_get_rowbytes(png, info);
    if (length != (size_t)picture->width * (is_deep ? 8 : 4)) png_error(png, "its header changes");

    if (!picture_begin(picture, model, is_deep ? 16 : 8)) return false;
    reader->rows = malloc(length * (is_interlaced ? picture->height : 1));
    if (reader->rows == NULL) return picture_refuse_memory(picture);
    for (int pass = is_interlaced ? 0 : 6; pass < 7; pass++) {
        for (uint32_t y = 0; y < picture->height; y++) {
            uint8_t *row = reader->rows + (is_interlaced ? length * y : 0);
            png_read_row(png, row, NULL);
            if (pass == 6) picture_add_row(picture, row);
        }
    }
    png_read_end(png, info);
    read_orientation(png, info, picture);
    return true;
}

bool read_png(struct picture *picture, const uint8_t *bytes, size_t length) {
    if (length < 33 || png_sig_cmp(bytes, 0, 8) != 0) {
        return picture_refuse(picture, DAMAGED, "it does not begin as a PNG");
    }
    if (memcmp(bytes + 12, "CgBI", 4) == 0) {
        return picture_refuse(picture, UNSUPPORTED, "it is a PNG in the form that only Apple's systems read");
    }
    if (memcmp(bytes + 12, "IHDR", 4) != 0) {
        return picture_refuse(picture, DAMAGED, "it does not begin with its header");
    }
    if (!picture_judge(picture, png_get_uint_32(bytes + 16), png_get_uint_32(bytes + 20))) return false;

    struct reader reader = {.picture = picture, .next = bytes, .left = length};
    reader.png = png_create_read_struct_2(
        PNG_LIBPNG_VER_STRING, &reader, on_error, on_warning, &reader, allocate, release);
    reader.info = reader.png == NULL ? NULL : png_create_info_struct(reader.png);
    bool is_read = false;
    if (reader.info == NULL) {
        picture_refuse_memory(picture);
    } else if (setjmp(png_jmpbuf(reader.png)) == 0) {
        // Texts may be large when unpacked.
        static const png_byte ignored[] = "tEXt\0zTXt\0iTXt\0sPLT\0hIST";
        png_set_keep_unknown_chunks(reader.png, PNG_HANDLE_CHUNK_NEVER, ignored, 5);
        png_set_chunk_malloc_max(reader.png, MOST_MEMORY_OF_CHUNK);
        png_set_read_fn(reader.png, &reader, copy_bytes);
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
        png_set_crc_action(reader.png, PNG_CRC_QUIET_USE, PNG_CRC_QUIET_USE);
#endif
        is_read = read_all(&reader);
    }
    png_destroy_read_struct(&reader.png, &reader.info, NULL);
    free(reader.rows);
    return is_read;
}
