// SPDX-License-Identifier: Apache-2.0
// Each decoder reads an image of its kind into a picture; false if the answer has another verdict.
#pragma once

#include "picture.h"

bool read_png(struct picture *picture, const uint8_t *bytes, size_t length);
bool read_jpeg(struct picture *picture, const uint8_t *bytes, size_t length);
bool read_gif(struct picture *picture, const uint8_t *bytes, size_t length);
bool read_webp(struct picture *picture, const uint8_t *bytes, size_t length);
bool read_bmp(struct picture *picture, const uint8_t *bytes, size_t length);
bool read_dib(struct picture *picture, const uint8_t *bytes, size_t length);
#ifdef WITH_HEIF
bool read_heif(struct picture *picture, const uint8_t *bytes, size_t length);
void heif_warm_up(void);
#endif
#ifdef WITH_JXL
bool read_jxl(struct picture *picture, const uint8_t *bytes, size_t length);
// Loads libjxl; false if there is none, and read_jxl() must not be called.
bool jxl_warm_up(void);
// That of libjxl, as it numbers them; 0 if there is none.
uint32_t jxl_version(void);
#endif

// The orientation that EXIF data gives, 1…8; 1 if it gives none.
unsigned exif_orientation(const uint8_t *bytes, size_t length);
