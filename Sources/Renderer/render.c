// SPDX-License-Identifier: Apache-2.0
#include "render.h"

#include <stdlib.h>
#include <string.h>

#include "decoders.h"

typedef bool decoder(struct picture *picture, const uint8_t *bytes, size_t length);

static decoder *decoders[] = {
    [KIND_PNG] = read_png,   [KIND_JPEG] = read_jpeg, [KIND_GIF] = read_gif,
    [KIND_WEBP] = read_webp, [KIND_BMP] = read_bmp,   [KIND_DIB] = read_dib,
#ifdef WITH_HEIF
    [KIND_AVIF] = read_heif, [KIND_HEIC] = read_heif,
#endif
#ifdef WITH_JXL
    [KIND_JXL] = read_jxl,
#endif
};

enum { COUNT = sizeof decoders / sizeof decoders[0] };

uint32_t render_kinds(void) {
    uint32_t kinds = 0;
    for (unsigned kind = 0; kind < COUNT; kind++) kinds |= (decoders[kind] != NULL ? 1u : 0u) << kind;
    return kinds;
}

void render_warm_up(void) {
    colour_warm_up();
#ifdef WITH_HEIF
    heif_warm_up();
#endif
#ifdef WITH_JXL
    if (!jxl_warm_up()) decoders[KIND_JXL] = NULL;
#endif
}

void render(const struct request *request, struct answer *answer) {
    struct picture picture = {.request = request, .answer = answer, .orientation = 1};
    decoder *read = request->kind < COUNT ? decoders[request->kind] : NULL;
    if (read == NULL) {
        picture_refuse(&picture, UNSUPPORTED, "this program does not read images of kind %u", request->kind);
    } else if (read(&picture, request->bytes, request->length)) {
        picture_finish(&picture);
    }
    picture_clear(&picture);
}

void answer_clear(struct answer *answer) {
    for (uint32_t i = 0; i < MOST_SIZES; i++) free(answer->renditions[i].bytes);
    memset(answer, 0, sizeof *answer);
}
