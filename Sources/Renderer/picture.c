// SPDX-License-Identifier: Apache-2.0
#include "picture.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "png_write.h"

// Bounds what a row and the filters' weights need.
enum { LONGEST_SIDE = 65535 };

bool picture_refuse(struct picture *picture, enum verdict verdict, const char *format, ...) {
    struct answer *answer = picture->answer;
    if (answer->verdict != RENDERED) return false;
    answer->verdict = verdict;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(answer->reason, sizeof answer->reason, format, arguments);
    va_end(arguments);
    // A library may have quoted the image.
    for (char *c = answer->reason; *c != '\0'; c++) {
        if (*c < ' ' || *c > '~') *c = '?';
    }
    return false;
}

bool picture_refuse_memory(struct picture *picture) {
    return picture_refuse(picture, TOO_LARGE, "it needs more memory than it may have");
}

bool picture_judge(struct picture *picture, uint64_t width, uint64_t height) {
    if (width == 0 || height == 0) return picture_refuse(picture, DAMAGED, "its width or height is zero");
    if (width > LONGEST_SIDE || height > LONGEST_SIDE || width * height > picture->request->most_pixels) {
        return picture_refuse(
            picture, TOO_LARGE, "its %llu x %llu pixels are over the limit", (unsigned long long)width,
            (unsigned long long)height);
    }
    picture->width = (uint32_t)width;
    picture->height = (uint32_t)height;
    return true;
}

static uint32_t fit(uint32_t side, uint32_t longer, uint32_t size) {
    uint32_t fitted = (uint32_t)(((uint64_t)side * size + longer / 2) / longer);
    return fitted == 0 ? 1 : fitted;
}

bool picture_begin(struct picture *picture, enum model model, unsigned depth) {
    const struct request *request = picture->request;
    picture->model = model;
    picture->depth = depth;
    uint32_t width = picture->width, height = picture->height, longer = width > height ? width : height;
    picture->row = malloc(width * sizeof(vector));
    if (picture->row == NULL) return picture_refuse_memory(picture);
    for (uint32_t i = 0; i < request->count; i++) {
        uint32_t size = request->sizes[i];
        if (longer < size && (request->flags & MAY_ENLARGE) == 0) size = longer;
        uint32_t to_width = fit(width, longer, size), to_height = fit(height, longer, size);
        picture->scaled[i] = malloc((size_t)to_width * to_height * 4);
        if (picture->scaled[i] == NULL || !scaler_open(&picture->scalers[i], width, height, to_width, to_height)) {
            return picture_refuse_memory(picture);
        }
    }
    return true;
}

void picture_set_colour(struct picture *picture, struct colour *colour) {
    colour_free(picture->colour);
    picture->colour = colour;
}

// To 0…255, multiplied by alpha: else the colour of transparent pixels would bleed into their neighbours.
static void load_row(const struct picture *picture, const void *row) {
    uint32_t width = picture->width;
    vector *to = picture->row;
    if (picture->depth == 16) {
        const uint16_t *from = row;
        for (uint32_t x = 0; x < width; x++, from += 4) {
            float alpha = (float)from[3] / 65535, factor = alpha / 257;
            to[x] = (vector){from[0], from[1], from[2], 65535} * (vector){factor, factor, factor, factor};
        }
        return;
    }
    const uint8_t *from = row;
    if (picture->model == MODEL_CMYK) {
        for (uint32_t x = 0; x < width; x++, from += 4) to[x] = (vector){from[0], from[1], from[2], from[3]};
        return;
    }
    for (uint32_t x = 0; x < width; x++, from += 4) {
        float alpha = (float)from[3] / 255;
        to[x] = (vector){from[0], from[1], from[2], 255} * (vector){alpha, alpha, alpha, alpha};
    }
}

void picture_add_row(struct picture *picture, const void *row) {
    load_row(picture, row);
    for (uint32_t i = 0; i < picture->request->count; i++) {
        struct scaler *scaler = &picture->scalers[i];
        scaler_add_row(scaler, picture->row);
        uint32_t y;
        const vector *finished;
        while ((finished = scaler_next_row(scaler, &y)) != NULL) {
            // Colours are converted after scaling: there are far fewer pixels.
            uint8_t *to = picture->scaled[i] + (size_t)y * scaler->width * 4;
            colour_convert(picture->colour, picture->model, finished, scaler->width, to);
        }
    }
}

// Where a pixel of a picture that is stored in this width and height belongs.
static void turn(uint32_t x, uint32_t y, uint32_t width, uint32_t height, unsigned orientation, uint32_t to[2]) {
    uint32_t right = width - 1 - x, bottom = height - 1 - y;
    const uint32_t places[8][2] = {
        {x, y}, {right, y}, {right, bottom}, {x, bottom}, {y, x}, {bottom, x}, {bottom, right}, {y, right},
    };
    memcpy(to, places[orientation - 1], sizeof places[0]);
}

static bool finish(struct picture *picture, uint32_t index) {
    const struct scaler *scaler = &picture->scalers[index];
    struct rendition *rendition = &picture->answer->renditions[index];
    bool is_turned = picture->orientation >= 5;
    uint32_t width = is_turned ? scaler->height : scaler->width, height = is_turned ? scaler->width : scaler->height;
    bool has_canvas = (picture->request->flags & FIT_INSIDE) == 0;
    uint32_t size = picture->request->sizes[index];
    rendition->width = has_canvas ? size : width;
    rendition->height = has_canvas ? size : height;
    uint32_t left = (rendition->width - width) / 2, top = (rendition->height - height) / 2;

    uint8_t *canvas = calloc((size_t)rendition->width * rendition->height, 4);
    if (canvas == NULL) return picture_refuse_memory(picture);
    const uint8_t *from = picture->scaled[index];
    for (uint32_t y = 0; y < scaler->height; y++) {
        for (uint32_t x = 0; x < scaler->width; x++, from += 4) {
            uint32_t place[2];
            turn(x, y, scaler->width, scaler->height, picture->orientation, place);
            memcpy(canvas + ((size_t)(top + place[1]) * rendition->width + left + place[0]) * 4, from, 4);
        }
    }
    bool is_written = png_write(canvas, rendition);
    free(canvas);
    return is_written || picture_refuse_memory(picture);
}

bool picture_finish(struct picture *picture) {
    for (uint32_t i = 0; i < picture->request->count; i++) {
        if (!finish(picture, i)) return false;
    }
    return true;
}

void picture_clear(struct picture *picture) {
    for (uint32_t i = 0; i < MOST_SIZES; i++) {
        scaler_close(&picture->scalers[i]);
        free(picture->scaled[i]);
    }
    free(picture->row);
    colour_free(picture->colour);
}
