// SPDX-License-Identifier: Apache-2.0
// JPEG XL: the first frame of an animation. libjxl turns as the file says, and converts to sRGB what it stores in a
// space of its own; the rest has a profile.
//
// The library has another name in each release of Debian, because all of its versions are new ones (0.7 in Debian 12,
// 0.11 in Debian 13). It is loaded by name, so that the same program runs on all of them, and where there is none. What
// is used here has not changed in these versions, but for two functions that have lost a parameter in 0.9.
#include <dlfcn.h>
#include <jxl/decode.h>
#include <stdlib.h>
#include <string.h>

#include "decoders.h"

#define FUNCTIONS(DO)                                                                                                  \
    DO(JxlDecoderVersion)                                                                                              \
    DO(JxlDecoderCreate)                                                                                               \
    DO(JxlDecoderDestroy)                                                                                              \
    DO(JxlDecoderSubscribeEvents)                                                                                      \
    DO(JxlDecoderSetUnpremultiplyAlpha)                                                                                \
    DO(JxlDecoderSetInput)                                                                                             \
    DO(JxlDecoderCloseInput)                                                                                           \
    DO(JxlDecoderProcessInput)                                                                                         \
    DO(JxlDecoderGetBasicInfo)                                                                                         \
    DO(JxlDecoderGetExtraChannelInfo)                                                                                  \
    DO(JxlDecoderSetPreferredColorProfile)                                                                             \
    DO(JxlDecoderGetICCProfileSize)                                                                                    \
    DO(JxlDecoderGetColorAsICCProfile)                                                                                 \
    DO(JxlDecoderImageOutBufferSize)                                                                                   \
    DO(JxlDecoderSetImageOutBuffer)

#define MEMBER(name) __typeof__(name) *name;

// NULL if there is no library.
static struct {
    FUNCTIONS(MEMBER)
} jxl;

enum { FIRST_WITHOUT_FORMAT = 9000 };

typedef JxlDecoderStatus profile_size_with_format(
    const JxlDecoder *, const JxlPixelFormat *, JxlColorProfileTarget, size_t *);
typedef JxlDecoderStatus profile_size_without_format(const JxlDecoder *, JxlColorProfileTarget, size_t *);
typedef JxlDecoderStatus profile_with_format(
    const JxlDecoder *, const JxlPixelFormat *, JxlColorProfileTarget, uint8_t *, size_t);
typedef JxlDecoderStatus profile_without_format(const JxlDecoder *, JxlColorProfileTarget, uint8_t *, size_t);

static bool has_all_functions(void *library) {
    bool is_complete = true;
#define FIND(name)                                                                                                     \
    *(void **)&jxl.name = dlsym(library, #name);                                                                       \
    if (jxl.name == NULL) is_complete = false;
    FUNCTIONS(FIND)
    return is_complete;
}

bool jxl_warm_up(void) {
    static const char *const names[] = {
        "libjxl.so.0.11", "libjxl.so.0.10", "libjxl.so.0.9", "libjxl.so.0.8", "libjxl.so.0.7",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (library == NULL) continue;
        if (has_all_functions(library)) return true;
        // Another one may have all of them.
        dlclose(library);
    }
    memset(&jxl, 0, sizeof jxl);
    return false;
}

uint32_t jxl_version(void) {
    return jxl_warm_up() ? jxl.JxlDecoderVersion() : 0;
}

struct reader {
    JxlDecoder *decoder;
    struct picture *picture;
    JxlPixelFormat format;
    JxlBasicInfo info;
    uint8_t *pixels;
    bool lacks_memory;
};

static void *allocate(void *opaque, size_t size) {
    struct reader *reader = opaque;
    void *memory = malloc(size);
    if (memory == NULL) reader->lacks_memory = true;
    return memory;
}

static void release(void *opaque, void *memory) {
    (void)opaque;
    free(memory);
}

// Whether there is the memory that libjxl 0.7 takes, as measured: it ends the program where it gets none. An animation
// takes more, because the canvas is kept for later frames. A still image with layers may, too, and with frames that are
// kept for others; nothing in the header tells of these.
static bool has_memory(const struct reader *reader) {
    const JxlBasicInfo *info = &reader->info;
    bool is_deep = info->bits_per_sample > 8;
    size_t of_pixel = is_deep && info->uses_original_profile ? 36 : 24;
    if (info->num_extra_channels > 0) {
        of_pixel = info->uses_original_profile ? (is_deep ? 45 : 30) : (is_deep ? 64 : 44);
        of_pixel += 8 * (size_t)(info->num_extra_channels - 1);
    }
    if (info->have_animation) of_pixel += is_deep ? 32 : 16;
    void *memory = malloc((size_t)info->xsize * info->ysize * of_pixel);
    free(memory);
    return memory != NULL;
}

static bool read_header(struct reader *reader) {
    JxlBasicInfo *info = &reader->info;
    if (jxl.JxlDecoderGetBasicInfo(reader->decoder, info) != JXL_DEC_SUCCESS) {
        return picture_refuse(reader->picture, DAMAGED, "its header cannot be read");
    }
    if (!picture_judge(reader->picture, info->xsize, info->ysize)) return false;
    if (!has_memory(reader)) return picture_refuse_memory(reader->picture);
    for (uint32_t i = 0; i < info->num_extra_channels; i++) {
        JxlExtraChannelInfo channel;
        if (jxl.JxlDecoderGetExtraChannelInfo(reader->decoder, i, &channel) != JXL_DEC_SUCCESS) {
            return picture_refuse(reader->picture, DAMAGED, "its header cannot be read");
        }
        if (channel.type == JXL_CHANNEL_BLACK) return picture_refuse(reader->picture, UNSUPPORTED, "it is CMYK");
    }
    return true;
}

// The profile of the pixels, which is not that of the file if libjxl converts them.
static struct colour *colour(struct reader *reader, enum model model) {
    const JxlDecoder *decoder = reader->decoder;
    bool has_format = jxl.JxlDecoderVersion() < FIRST_WITHOUT_FORMAT;
    const JxlColorProfileTarget target = JXL_COLOR_PROFILE_TARGET_DATA;
    void (*size_function)(void) = (void (*)(void))jxl.JxlDecoderGetICCProfileSize;
    void (*function)(void) = (void (*)(void))jxl.JxlDecoderGetColorAsICCProfile;
    size_t length = 0;
    JxlDecoderStatus status = has_format
        ? ((profile_size_with_format *)size_function)(decoder, NULL, target, &length)
        : ((profile_size_without_format *)size_function)(decoder, target, &length);
    uint8_t *profile = status == JXL_DEC_SUCCESS && length > 0 ? malloc(length) : NULL;
    if (profile == NULL) return NULL;
    status = has_format ? ((profile_with_format *)function)(decoder, NULL, target, profile, length)
                        : ((profile_without_format *)function)(decoder, target, profile, length);
    struct colour *colour = status == JXL_DEC_SUCCESS ? colour_from_profile(model, profile, length) : NULL;
    free(profile);
    return colour;
}

static bool read_colour(struct reader *reader) {
    bool is_gray = reader->info.num_color_channels == 1;
    const JxlColorEncoding srgb = {
        .color_space = is_gray ? JXL_COLOR_SPACE_GRAY : JXL_COLOR_SPACE_RGB,
        .white_point = JXL_WHITE_POINT_D65,
        .primaries = JXL_PRIMARIES_SRGB,
        .transfer_function = JXL_TRANSFER_FUNCTION_SRGB,
        .rendering_intent = JXL_RENDERING_INTENT_RELATIVE,
    };
    // It has no effect where libjxl has no choice.
    jxl.JxlDecoderSetPreferredColorProfile(reader->decoder, &srgb);
    enum model model = is_gray ? MODEL_GRAY : MODEL_RGB;
    picture_set_colour(reader->picture, colour(reader, model));
    bool is_deep = reader->info.bits_per_sample > 8;
    reader->format = (JxlPixelFormat){4, is_deep ? JXL_TYPE_UINT16 : JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 0};
    return picture_begin(reader->picture, model, is_deep ? 16 : 8);
}

static bool give_memory(struct reader *reader) {
    size_t length = 0;
    const struct picture *picture = reader->picture;
    size_t expected = (size_t)picture->width * picture->height * (picture->depth == 16 ? 8 : 4);
    JxlDecoderStatus status = jxl.JxlDecoderImageOutBufferSize(reader->decoder, &reader->format, &length);
    if (status != JXL_DEC_SUCCESS || length != expected || reader->pixels != NULL) {
        return picture_refuse(reader->picture, DAMAGED, "its frame is not as large as its header says");
    }
    reader->pixels = malloc(length);
    if (reader->pixels == NULL) return picture_refuse_memory(reader->picture);
    status = jxl.JxlDecoderSetImageOutBuffer(reader->decoder, &reader->format, reader->pixels, length);
    return status == JXL_DEC_SUCCESS || picture_refuse(reader->picture, DAMAGED, "its frame cannot be read");
}

static bool add_rows(struct reader *reader) {
    struct picture *picture = reader->picture;
    size_t length = (size_t)picture->width * (picture->depth == 16 ? 8 : 4);
    for (uint32_t y = 0; y < picture->height; y++) picture_add_row(picture, reader->pixels + length * y);
    return true;
}

static bool read_events(struct reader *reader) {
    for (;;) {
        bool goes_on;
        switch (jxl.JxlDecoderProcessInput(reader->decoder)) {
        case JXL_DEC_BASIC_INFO: goes_on = read_header(reader); break;
        case JXL_DEC_COLOR_ENCODING: goes_on = read_colour(reader); break;
        case JXL_DEC_NEED_IMAGE_OUT_BUFFER: goes_on = give_memory(reader); break;
        case JXL_DEC_FULL_IMAGE: return add_rows(reader);
        case JXL_DEC_NEED_MORE_INPUT: return picture_refuse(reader->picture, DAMAGED, "its data ends early");
        case JXL_DEC_SUCCESS: return picture_refuse(reader->picture, DAMAGED, "it has no frame");
        default:
            if (reader->lacks_memory) return picture_refuse_memory(reader->picture);
            return picture_refuse(reader->picture, DAMAGED, "its data is corrupt");
        }
        if (!goes_on) return false;
    }
}

bool read_jxl(struct picture *picture, const uint8_t *bytes, size_t length) {
    struct reader reader = {.picture = picture};
    JxlMemoryManager memory = {&reader, allocate, release};
    reader.decoder = jxl.JxlDecoderCreate(&memory);
    if (reader.decoder == NULL) return picture_refuse_memory(picture);
    int events = JXL_DEC_BASIC_INFO | JXL_DEC_COLOR_ENCODING | JXL_DEC_FULL_IMAGE;
    bool is_ready = jxl.JxlDecoderSubscribeEvents(reader.decoder, events) == JXL_DEC_SUCCESS
        && jxl.JxlDecoderSetUnpremultiplyAlpha(reader.decoder, JXL_TRUE) == JXL_DEC_SUCCESS
        && jxl.JxlDecoderSetInput(reader.decoder, bytes, length) == JXL_DEC_SUCCESS;
    bool is_read = false;
    if (!is_ready) {
        picture_refuse(picture, UNSUPPORTED, "libjxl is another version");
    } else {
        jxl.JxlDecoderCloseInput(reader.decoder);
        is_read = read_events(&reader);
    }
    jxl.JxlDecoderDestroy(reader.decoder);
    free(reader.pixels);
    return is_read;
}
