// SPDX-License-Identifier: Apache-2.0
// A WebP, or the first frame of an animated one on a transparent canvas.
#include <stdlib.h>
#include <string.h>
#include <webp/decode.h>
#include <webp/demux.h>

#include "decoders.h"

static bool refuse(struct picture *picture, VP8StatusCode status) {
    switch (status) {
    case VP8_STATUS_OUT_OF_MEMORY: return picture_refuse_memory(picture);
    case VP8_STATUS_UNSUPPORTED_FEATURE: return picture_refuse(picture, UNSUPPORTED, "it uses an unknown feature");
    case VP8_STATUS_SUSPENDED:
    case VP8_STATUS_NOT_ENOUGH_DATA: return picture_refuse(picture, DAMAGED, "its data ends early");
    default: return picture_refuse(picture, DAMAGED, "its data is corrupt");
    }
}

static void add_rows(struct picture *picture, const WebPIterator *frame, const WebPRGBABuffer *pixels, uint8_t *row) {
    uint32_t left = (uint32_t)frame->x_offset, top = (uint32_t)frame->y_offset;
    for (uint32_t y = 0; y < picture->height; y++) {
        memset(row, 0, (size_t)picture->width * 4);
        if (y >= top && y - top < (uint32_t)frame->height) {
            const uint8_t *from = pixels->rgba + (size_t)(y - top) * (size_t)pixels->stride;
            memcpy(row + (size_t)left * 4, from, (size_t)frame->width * 4);
        }
        picture_add_row(picture, row);
    }
}

static bool read_frame(struct picture *picture, const WebPIterator *frame) {
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config)) return picture_refuse(picture, UNSUPPORTED, "libwebp is another version");
    VP8StatusCode status = WebPGetFeatures(frame->fragment.bytes, frame->fragment.size, &config.input);
    if (status != VP8_STATUS_OK) return refuse(picture, status);
    bool fits = config.input.width == frame->width && config.input.height == frame->height
        && (uint32_t)frame->x_offset + (uint32_t)frame->width <= picture->width
        && (uint32_t)frame->y_offset + (uint32_t)frame->height <= picture->height;
    if (!fits) return picture_refuse(picture, DAMAGED, "its frame does not fit its canvas");
    config.output.colorspace = MODE_RGBA;
    uint8_t *row = malloc((size_t)picture->width * 4);
    bool is_read = row != NULL ? picture_begin(picture, MODEL_RGB, 8) : picture_refuse_memory(picture);
    if (is_read) {
        status = WebPDecode(frame->fragment.bytes, frame->fragment.size, &config);
        is_read = status == VP8_STATUS_OK || refuse(picture, status);
    }
    if (is_read) add_rows(picture, frame, &config.output.u.RGBA, row);
    WebPFreeDecBuffer(&config.output);
    free(row);
    return is_read;
}

static void read_metadata(struct picture *picture, const WebPDemuxer *demuxer) {
    WebPChunkIterator chunk;
    if (WebPDemuxGetChunk(demuxer, "ICCP", 1, &chunk)) {
        picture_set_colour(picture, colour_from_profile(MODEL_RGB, chunk.chunk.bytes, chunk.chunk.size));
        WebPDemuxReleaseChunkIterator(&chunk);
    }
    if (WebPDemuxGetChunk(demuxer, "EXIF", 1, &chunk)) {
        picture->orientation = exif_orientation(chunk.chunk.bytes, chunk.chunk.size);
        WebPDemuxReleaseChunkIterator(&chunk);
    }
}

static bool read_opened(struct picture *picture, const WebPDemuxer *demuxer) {
    uint32_t width = WebPDemuxGetI(demuxer, WEBP_FF_CANVAS_WIDTH);
    uint32_t height = WebPDemuxGetI(demuxer, WEBP_FF_CANVAS_HEIGHT);
    if (!picture_judge(picture, width, height)) return false;
    WebPIterator frame;
    if (!WebPDemuxGetFrame(demuxer, 1, &frame)) return picture_refuse(picture, DAMAGED, "it has no frame");
    read_metadata(picture, demuxer);
    bool is_read = read_frame(picture, &frame);
    WebPDemuxReleaseIterator(&frame);
    return is_read;
}

bool read_webp(struct picture *picture, const uint8_t *bytes, size_t length) {
    WebPData data = {bytes, length};
    WebPDemuxer *demuxer = WebPDemux(&data);
    if (demuxer == NULL) return picture_refuse(picture, DAMAGED, "it is no WebP, or its data ends early");
    bool is_read = read_opened(picture, demuxer);
    WebPDemuxDelete(demuxer);
    return is_read;
}
