// SPDX-License-Identifier: Apache-2.0
// AVIF and HEIC. libheif crops, turns and mirrors as the file says; EXIF is ignored, because it repeats that.
#include <fcntl.h>
#include <libheif/heif.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "decoders.h"

// libheif has no setting for the threads of its codecs, so these take the place of the libraries' functions. With them,
// both codecs work in the thread that calls them.

// libheif asks libde265 for one thread, and would wait forever where none may be started.
__attribute__((visibility("default"))) int de265_start_worker_threads(void *context, int count);

int de265_start_worker_threads(void *context, int count) {
    (void)context;
    (void)count;
    return 0;
}

// dav1d starts as many threads as there are processors.
__attribute__((visibility("default"))) int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *set) {
    (void)thread;
    CPU_ZERO_S(size, set);
    CPU_SET_S(0, size, set);
    return 0;
}

void heif_warm_up(void) {
    heif_init(NULL);
#ifndef SANITIZED
    // dav1d writes what it finds wrong with an image to the standard error.
    int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nothing >= 0) dup2(nothing, STDERR_FILENO);
#endif
}

static bool refuse(struct picture *picture, struct heif_error error) {
    enum verdict verdict = DAMAGED;
    switch (error.code) {
    case heif_error_Unsupported_filetype:
    case heif_error_Unsupported_feature:
    case heif_error_Plugin_loading_error: verdict = UNSUPPORTED; break;
    case heif_error_Memory_allocation_error: verdict = TOO_LARGE; break;
    default: break;
    }
    if (error.subcode == heif_suberror_Security_limit_exceeded) verdict = TOO_LARGE;
    return picture_refuse(picture, verdict, "%s", error.message);
}

// The encoding exponent of a transfer function; those of video are near to that of sRGB, and shown like it.
static double encoding(enum heif_transfer_characteristics transfer) {
    switch (transfer) {
    case heif_transfer_characteristic_linear: return 1;
    case heif_transfer_characteristic_ITU_R_BT_470_6_System_B_G: return 1 / 2.8;
    default: return 1 / 2.2;
    }
}

static struct colour *colour(const struct heif_image_handle *handle) {
    size_t length = heif_image_handle_get_raw_color_profile_size(handle);
    if (length > 0) {
        uint8_t *profile = malloc(length);
        if (profile == NULL) return NULL;
        struct heif_error error = heif_image_handle_get_raw_color_profile(handle, profile);
        struct colour *colour = error.code == heif_error_Ok ? colour_from_profile(MODEL_RGB, profile, length) : NULL;
        free(profile);
        return colour;
    }
    struct heif_color_profile_nclx *nclx = NULL;
    if (heif_image_handle_get_nclx_color_profile(handle, &nclx).code != heif_error_Ok) return NULL;
    const double xy[8] = {
        nclx->color_primary_white_x, nclx->color_primary_white_y, nclx->color_primary_red_x, nclx->color_primary_red_y,
        nclx->color_primary_green_x, nclx->color_primary_green_y,
        nclx->color_primary_blue_x, nclx->color_primary_blue_y,
    };
    bool has_primaries = nclx->color_primaries != heif_color_primaries_unspecified;
    struct colour *colour = colour_from_gamma(encoding(nclx->transfer_characteristics), has_primaries ? xy : NULL);
    heif_nclx_color_profile_free(nclx);
    return colour;
}

static bool read_handle(struct picture *picture, const struct heif_image_handle *handle) {
    int width = heif_image_handle_get_width(handle), height = heif_image_handle_get_height(handle);
    int whole_width = heif_image_handle_get_ispe_width(handle);
    int whole_height = heif_image_handle_get_ispe_height(handle);
    if (width < 0 || height < 0 || whole_width < 0 || whole_height < 0) {
        return picture_refuse(picture, DAMAGED, "it has no size");
    }
    // It may be cut out of a far larger one.
    if (!picture_judge(picture, (uint64_t)whole_width, (uint64_t)whole_height)) return false;
    if (!picture_judge(picture, (uint64_t)width, (uint64_t)height)) return false;

    struct heif_decoding_options *options = heif_decoding_options_alloc();
    if (options == NULL) return picture_refuse_memory(picture);
    options->convert_hdr_to_8bit = 1;
    struct heif_image *image = NULL;
    struct heif_error error =
        heif_decode_image(handle, &image, heif_colorspace_RGB, heif_chroma_interleaved_RGBA, options);
    heif_decoding_options_free(options);
    if (error.code != heif_error_Ok) return refuse(picture, error);
    int stride = 0;
    const uint8_t *pixels = heif_image_get_plane_readonly(image, heif_channel_interleaved, &stride);
    bool is_as_announced = pixels != NULL && heif_image_get_width(image, heif_channel_interleaved) == width
        && heif_image_get_height(image, heif_channel_interleaved) == height;
    bool is_read = false;
    if (!is_as_announced) {
        picture_refuse(picture, DAMAGED, "it is not as large as its header says");
    } else {
        picture_set_colour(picture, colour(handle));
        is_read = picture_begin(picture, MODEL_RGB, 8);
    }
    for (int y = 0; is_read && y < height; y++) picture_add_row(picture, pixels + (ptrdiff_t)y * stride);
    heif_image_release(image);
    return is_read;
}

bool read_heif(struct picture *picture, const uint8_t *bytes, size_t length) {
    struct heif_context *context = heif_context_alloc();
    if (context == NULL) return picture_refuse_memory(picture);
    // Of libheif itself; the codecs have others.
    heif_context_set_max_decoding_threads(context, 0);
    struct heif_image_handle *handle = NULL;
    struct heif_error error = heif_context_read_from_memory_without_copy(context, bytes, length, NULL);
    if (error.code == heif_error_Ok) error = heif_context_get_primary_image_handle(context, &handle);
    bool is_read = error.code == heif_error_Ok ? read_handle(picture, handle) : refuse(picture, error);
    heif_image_handle_release(handle);
    heif_context_free(context);
    return is_read;
}
