// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>

#include "decoders.h"
#include "jpeg_scan.h"

// Each scan of a progressive image costs time for all its pixels. Programs write 10, and up to 64 by hand.
enum { MOST_SCANS = 100 };

struct reader {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    jmp_buf failed;
    struct picture *picture;
    const uint8_t *bytes, *end;
    uint8_t *row;
    JOCTET *profile;
    // Whether a missing end marker is no damage, nor a missing end of the last block: JWRN_HIT_MARKER tells if data is
    // missing.
    bool may_lack_end;
};

static void on_error(j_common_ptr jpeg) {
    struct reader *reader = jpeg->client_data;
    char message[JMSG_LENGTH_MAX];
    jpeg->err->format_message(jpeg, message);
    enum verdict verdict = DAMAGED;
    switch (jpeg->err->msg_code) {
    case JERR_OUT_OF_MEMORY:
    case JERR_NO_BACKING_STORE:
    case JERR_WIDTH_OVERFLOW:
    case JERR_IMAGE_TOO_BIG: verdict = TOO_LARGE; break;
    case JERR_SOF_UNSUPPORTED:
    case JERR_BAD_PRECISION:
    case JERR_ARITH_NOTIMPL:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_BAD_J_COLORSPACE:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_CCIR601_NOTIMPL:
    case JERR_NOTIMPL:
    case JERR_NOT_COMPILED: verdict = UNSUPPORTED; break;
    default: break;
    }
    picture_refuse(reader->picture, verdict, "%s", message);
    longjmp(reader->failed, 1);
}

// Whether nothing but the end of the last block is missing from the scan that is read: decoders make it up.
static bool lacks_end_only(const struct reader *reader) {
    const struct jpeg_source_mgr *source = reader->jpeg.src;
    // Where libjpeg has come to. At the end of the file it reads an end marker of its own.
    const uint8_t *place = reader->end;
    if (source->next_input_byte == reader->end - source->bytes_in_buffer) place = source->next_input_byte;
    // The data of a scan has no marker like that of its header.
    for (size_t last = place - reader->bytes; last >= 4; last--) {
        const uint8_t *marker = reader->bytes + last - 4;
        if (marker[0] != 0xff || marker[1] != 0xda) continue;
        int length = marker[2] << 8 | marker[3];
        if (length > reader->end - marker - 2) return false;
        return scan_lacks_end_only(&reader->jpeg, marker + 2 + length, reader->end);
    }
    return false;
}

// libjpeg replaces what is missing by gray. Here it is damage.
static void on_message(j_common_ptr jpeg, int level) {
    if (level >= 0) return;
    struct reader *reader = jpeg->client_data;
    switch (jpeg->err->msg_code) {
    case JWRN_BOGUS_PROGRESSION:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_MUST_RESYNC: on_error(jpeg); break;
    case JWRN_HIT_MARKER:
        if (!reader->may_lack_end || !lacks_end_only(reader)) on_error(jpeg);
        break;
    case JWRN_JPEG_EOF:
        if (!reader->may_lack_end) on_error(jpeg);
        break;
    // Bytes between markers and the like lose nothing.
    default: break;
    }
}

static void on_progress(j_common_ptr jpeg) {
    struct reader *reader = jpeg->client_data;
    if (reader->jpeg.input_scan_number <= MOST_SCANS) return;
    picture_refuse(reader->picture, UNSUPPORTED, "it has more than %d scans", MOST_SCANS);
    longjmp(reader->failed, 1);
}

static void read_markers(struct reader *reader, enum model model) {
    struct picture *picture = reader->picture;
    for (jpeg_saved_marker_ptr marker = reader->jpeg.marker_list; marker != NULL; marker = marker->next) {
        bool is_exif = marker->marker == JPEG_APP0 + 1 && marker->data_length >= 6
            && memcmp(marker->data, "Exif\0\0", 6) == 0;
        if (!is_exif) continue;
        picture->orientation = exif_orientation(marker->data, marker->data_length);
        break;
    }
    unsigned length;
    if (jpeg_read_icc_profile(&reader->jpeg, &reader->profile, &length)) {
        picture_set_colour(picture, colour_from_profile(model, reader->profile, length));
    }
}

// Everything that can jump. The reader keeps what must be freed then.
static bool read_all(struct reader *reader, const uint8_t *bytes, size_t length) {
    struct picture *picture = reader->picture;
    struct jpeg_decompress_struct *jpeg = &reader->jpeg;
    jpeg_create_decompress(jpeg);
    jpeg->client_data = reader;
    jpeg->progress = &reader->progress;
    reader->progress.progress_monitor = on_progress;
    jpeg_mem_src(jpeg, bytes, length);
    jpeg_save_markers(jpeg, JPEG_APP0 + 1, 0xffff);
    jpeg_save_markers(jpeg, JPEG_APP0 + 2, 0xffff);
    jpeg_read_header(jpeg, TRUE);
    if (!picture_judge(picture, jpeg->image_width, jpeg->image_height)) return false;
    reader->may_lack_end = !jpeg->progressive_mode && !jpeg->arith_code;

    bool is_cmyk = jpeg->jpeg_color_space == JCS_CMYK || jpeg->jpeg_color_space == JCS_YCCK;
    enum model model = is_cmyk ? MODEL_CMYK : jpeg->jpeg_color_space == JCS_GRAYSCALE ? MODEL_GRAY : MODEL_RGB;
    jpeg->out_color_space = is_cmyk ? JCS_CMYK : JCS_EXT_RGBA;
    // Its results do not depend on the processor.
    jpeg->dct_method = JDCT_ISLOW;
    read_markers(reader, model);
    if (!picture_begin(picture, model, 8)) return false;
    reader->row = malloc((size_t)picture->width * 4);
    if (reader->row == NULL) return picture_refuse_memory(picture);
    jpeg_start_decompress(jpeg);
    while (jpeg->output_scanline < jpeg->output_height) {
        jpeg_read_scanlines(jpeg, &reader->row, 1);
        // Adobe's programs write the inverse of the ink.
        if (is_cmyk && jpeg->saw_Adobe_marker) {
            for (size_t i = 0; i < (size_t)picture->width * 4; i++) reader->row[i] = 255 - reader->row[i];
        }
        picture_add_row(picture, reader->row);
    }
    jpeg_finish_decompress(jpeg);
    return true;
}

bool read_jpeg(struct picture *picture, const uint8_t *bytes, size_t length) {
    struct reader reader = {.picture = picture, .bytes = bytes, .end = bytes + length};
    reader.jpeg.err = jpeg_std_error(&reader.errors);
    reader.jpeg.client_data = &reader;
    reader.errors.error_exit = on_error;
    reader.errors.emit_message = on_message;
    bool is_read = setjmp(reader.failed) == 0 && read_all(&reader, bytes, length);
    jpeg_destroy_decompress(&reader.jpeg);
    free(reader.row);
    free(reader.profile);
    return is_read;
}
