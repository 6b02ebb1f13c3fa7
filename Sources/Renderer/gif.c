// SPDX-License-Identifier: Apache-2.0
// The first frame of a GIF, on a transparent canvas.
#include <gif_lib.h>
#include <stdlib.h>
#include <string.h>

#include "decoders.h"

struct bytes {
    const uint8_t *next;
    size_t left;
};

static int copy_bytes(GifFileType *gif, GifByteType *to, int length) {
    struct bytes *bytes = gif->UserData;
    size_t count = length < 0 ? 0 : (size_t)length < bytes->left ? (size_t)length : bytes->left;
    memcpy(to, bytes->next, count);
    bytes->next += count;
    bytes->left -= count;
    return (int)count;
}

static bool refuse(struct picture *picture, int error) {
    if (error == D_GIF_ERR_NOT_ENOUGH_MEM) return picture_refuse_memory(picture);
    bool is_short = error == D_GIF_ERR_READ_FAILED || error == D_GIF_ERR_EOF_TOO_SOON;
    const char *message = is_short ? "its data ends early" : GifErrorString(error);
    return picture_refuse(picture, DAMAGED, "%s", message == NULL ? "it cannot be read" : message);
}

// Reads up to the first frame's description; `transparent` becomes its transparent index, if it has one.
static bool find_frame(struct picture *picture, GifFileType *gif, int *transparent) {
    for (;;) {
        GifRecordType record;
        if (DGifGetRecordType(gif, &record) != GIF_OK) return refuse(picture, gif->Error);
        if (record == TERMINATE_RECORD_TYPE) return picture_refuse(picture, DAMAGED, "it has no frame");
        if (record == IMAGE_DESC_RECORD_TYPE) break;
        int code;
        GifByteType *block;
        if (DGifGetExtension(gif, &code, &block) != GIF_OK) return refuse(picture, gif->Error);
        while (block != NULL) {
            GraphicsControlBlock control;
            bool is_control = code == GRAPHICS_EXT_FUNC_CODE
                && DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK;
            if (is_control) *transparent = control.TransparentColor;
            if (DGifGetExtensionNext(gif, &block) != GIF_OK) return refuse(picture, gif->Error);
        }
    }
    return DGifGetImageDesc(gif) == GIF_OK || refuse(picture, gif->Error);
}

static bool read_frame(struct picture *picture, GifFileType *gif, uint8_t *indexes) {
    uint32_t width = (uint32_t)gif->Image.Width, height = (uint32_t)gif->Image.Height;
    static const uint32_t starts[] = {0, 4, 2, 1, 0}, steps[] = {8, 8, 4, 2, 1};
    unsigned pass = gif->Image.Interlace ? 0 : 4, last = gif->Image.Interlace ? 3 : 4;
    for (; pass <= last; pass++) {
        for (uint32_t y = starts[pass]; y < height; y += steps[pass]) {
            int result = DGifGetLine(gif, indexes + (size_t)y * width, (int)width);
            if (result != GIF_OK) return refuse(picture, gif->Error);
        }
    }
    return true;
}

static void add_rows(
    struct picture *picture, const GifImageDesc *frame, const ColorMapObject *colours, int transparent,
    const uint8_t *indexes, uint8_t *row) {
    uint32_t left = (uint32_t)frame->Left, top = (uint32_t)frame->Top, width = (uint32_t)frame->Width;
    for (uint32_t y = 0; y < picture->height; y++) {
        memset(row, 0, (size_t)picture->width * 4);
        bool has_frame = y >= top && y - top < (uint32_t)frame->Height;
        for (uint32_t x = 0; has_frame && x < width && left + x < picture->width; x++) {
            int index = indexes[(size_t)(y - top) * width + x];
            if (index == transparent || index >= colours->ColorCount) continue;
            GifColorType colour = colours->Colors[index];
            uint8_t *to = row + (size_t)(left + x) * 4;
            to[0] = colour.Red;
            to[1] = colour.Green;
            to[2] = colour.Blue;
            to[3] = 255;
        }
        picture_add_row(picture, row);
    }
}

static bool read_opened(struct picture *picture, GifFileType *gif) {
    if (!picture_judge(picture, (uint64_t)gif->SWidth, (uint64_t)gif->SHeight)) return false;
    int transparent = NO_TRANSPARENT_COLOR;
    if (!find_frame(picture, gif, &transparent)) return false;
    const GifImageDesc *frame = &gif->Image;
    const ColorMapObject *colours = frame->ColorMap != NULL ? frame->ColorMap : gif->SColorMap;
    if (colours == NULL) return picture_refuse(picture, DAMAGED, "its first frame has no colours");
    uint64_t pixels = (uint64_t)frame->Width * (uint64_t)frame->Height;
    if (pixels == 0) return picture_refuse(picture, DAMAGED, "its first frame is empty");
    if (pixels > picture->request->most_pixels) {
        return picture_refuse(picture, TOO_LARGE, "its first frame is over the limit");
    }
    uint8_t *indexes = malloc(pixels), *row = malloc((size_t)picture->width * 4);
    bool is_read = indexes != NULL && row != NULL ? read_frame(picture, gif, indexes) : picture_refuse_memory(picture);
    is_read = is_read && picture_begin(picture, MODEL_RGB, 8);
    if (is_read) add_rows(picture, frame, colours, transparent, indexes, row);
    free(indexes);
    free(row);
    return is_read;
}

bool read_gif(struct picture *picture, const uint8_t *bytes, size_t length) {
    struct bytes source = {bytes, length};
    int error = 0;
    GifFileType *gif = DGifOpen(&source, copy_bytes, &error);
    if (gif == NULL) return refuse(picture, error);
    bool is_read = read_opened(picture, gif);
    DGifCloseFile(gif, &error);
    return is_read;
}
