// SPDX-License-Identifier: Apache-2.0
#include "colour.h"

#include <lcms2.h>
#include <stdlib.h>

// That of a press has some 2 MiB.
enum { LONGEST_PROFILE = 4 << 20 };

enum { BATCH = 256 };

struct colour {
    cmsHTRANSFORM transform;
    unsigned channels;
};

static cmsHPROFILE srgb;

void colour_warm_up(void) {
    srgb = cmsCreate_sRGBProfile();
    // The first transform initializes more than the profile did.
    colour_free(colour_from_gamma(1, NULL));
}

static struct colour *make(cmsHPROFILE profile, cmsUInt32Number format, unsigned channels) {
    struct colour *colour = calloc(1, sizeof *colour);
    // Without optimization: to build lcms's tables takes longer than to convert the pixels of icons one by one, and
    // they are inexact for encodings far from that of sRGB.
    cmsHTRANSFORM transform = colour == NULL ? NULL : cmsCreateTransform(
        profile, format, srgb, TYPE_RGB_8, INTENT_PERCEPTUAL, cmsFLAGS_NOOPTIMIZE);
    if (transform == NULL) {
        free(colour);
        return NULL;
    }
    colour->transform = transform;
    colour->channels = channels;
    return colour;
}

static struct colour *from_opened(enum model model, cmsHPROFILE profile) {
    switch (cmsGetDeviceClass(profile)) {
    case cmsSigInputClass:
    case cmsSigDisplayClass:
    case cmsSigOutputClass:
    case cmsSigColorSpaceClass: break;
    default: return NULL;
    }
    switch (cmsGetColorSpace(profile)) {
    case cmsSigRgbData: return model == MODEL_CMYK ? NULL : make(profile, TYPE_RGB_16, 3);
    case cmsSigGrayData: return model == MODEL_GRAY ? make(profile, TYPE_GRAY_16, 1) : NULL;
    case cmsSigCmykData: return model == MODEL_CMYK ? make(profile, TYPE_CMYK_16, 4) : NULL;
    default: return NULL;
    }
}

struct colour *colour_from_profile(enum model model, const void *bytes, size_t length) {
    if (length > LONGEST_PROFILE) return NULL;
    cmsHPROFILE profile = cmsOpenProfileFromMem(bytes, (cmsUInt32Number)length);
    if (profile == NULL) return NULL;
    struct colour *colour = from_opened(model, profile);
    cmsCloseProfile(profile);
    return colour;
}

static bool is_near(double a, double b, double tolerance) { return a - b < tolerance && b - a < tolerance; }

struct colour *colour_from_gamma(double encoding, const double chromaticities[8]) {
    static const double those_of_srgb[8] = {0.3127, 0.3290, 0.64, 0.33, 0.30, 0.60, 0.15, 0.06};
    // Programs write 1/2.2 for sRGB, which is close to its curve, and round.
    bool is_srgb = is_near(encoding, 1 / 2.2, 0.01);
    const double *xy = chromaticities == NULL ? those_of_srgb : chromaticities;
    for (int i = 0; i < 8; i++) {
        if (!is_near(xy[i], those_of_srgb[i], 0.005)) is_srgb = false;
        if (!(xy[i] >= 0 && xy[i] <= 1) || (i % 2 == 1 && xy[i] < 0.001)) return NULL;
    }
    if (is_srgb || !(encoding >= 0.1 && encoding <= 10)) return NULL;
    cmsCIExyY white = {xy[0], xy[1], 1};
    cmsCIExyYTRIPLE primaries = {{xy[2], xy[3], 1}, {xy[4], xy[5], 1}, {xy[6], xy[7], 1}};
    cmsToneCurve *curve = cmsBuildGamma(NULL, 1 / encoding);
    if (curve == NULL) return NULL;
    cmsToneCurve *curves[3] = {curve, curve, curve};
    cmsHPROFILE profile = cmsCreateRGBProfile(&white, &primaries, curves);
    cmsFreeToneCurve(curve);
    if (profile == NULL) return NULL;
    struct colour *colour = make(profile, TYPE_RGB_16, 3);
    cmsCloseProfile(profile);
    return colour;
}

void colour_free(struct colour *colour) {
    if (colour == NULL) return;
    cmsDeleteTransform(colour->transform);
    free(colour);
}

static float limited(float value, float most) { return !(value > 0) ? 0 : value > most ? most : value; }

static uint8_t rounded(float value) { return (uint8_t)(limited(value, 255) + 0.5f); }

// Divides by alpha; what rounds to transparent has no colour.
static vector plain(vector pixel, enum model model, uint8_t *alpha) {
    *alpha = model == MODEL_CMYK ? 255 : rounded(pixel[3]);
    if (model == MODEL_CMYK) return pixel;
    if (*alpha == 0) return (vector){0};
    float factor = 255 / pixel[3];
    return pixel * (vector){factor, factor, factor, factor};
}

static void convert_batch(
    const struct colour *colour, enum model model, const vector *row, uint32_t count, uint8_t *rgba) {
    uint16_t input[BATCH * 4], *next = input;
    uint8_t output[BATCH * 3];
    for (uint32_t x = 0; x < count; x++) {
        vector pixel = plain(row[x], model, &rgba[x * 4 + 3]);
        for (unsigned i = 0; i < colour->channels; i++) *next++ = (uint16_t)(limited(pixel[i], 255) * 257 + 0.5f);
    }
    cmsDoTransform(colour->transform, input, output, count);
    for (uint32_t x = 0; x < count; x++) {
        bool is_visible = rgba[x * 4 + 3] != 0;
        for (unsigned i = 0; i < 3; i++) rgba[x * 4 + i] = is_visible ? output[x * 3 + i] : 0;
    }
}

void colour_convert(
    const struct colour *colour, enum model model, const vector *row, uint32_t width, uint8_t *rgba) {
    if (colour != NULL) {
        for (uint32_t x = 0; x < width; x += BATCH) {
            convert_batch(colour, model, row + x, width - x < BATCH ? width - x : BATCH, rgba + (size_t)x * 4);
        }
        return;
    }
    for (uint32_t x = 0; x < width; x++, rgba += 4) {
        vector pixel = plain(row[x], model, &rgba[3]);
        if (model == MODEL_CMYK) {
            float light = (255 - limited(pixel[3], 255)) / 255;
            pixel = (vector){255, 255, 255, 0} - pixel;
            pixel *= (vector){light, light, light, 0};
        }
        for (unsigned i = 0; i < 3; i++) rgba[i] = rounded(pixel[i]);
    }
}
