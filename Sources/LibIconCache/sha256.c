/* SPDX-License-Identifier: Apache-2.0 */
#include "sha256.h"

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

enum { BLOCK = 64 };

static const uint32_t constants[64] __attribute__((aligned(16))) = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotated(uint32_t word, int bits) { return word >> bits | word << (32 - bits); }

static uint32_t load(const unsigned char *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void store(uint32_t word, unsigned char *p) {
    for (int i = 0; i < 4; i++) p[i] = (unsigned char)(word >> (24 - 8 * i));
}

static void add_blocks(uint32_t state[8], const unsigned char *p, size_t count) {
    for (; count > 0; count--, p += BLOCK) {
        uint32_t w[64];
        for (size_t i = 0; i < 16; i++) w[i] = load(p + 4 * i);
        for (int i = 16; i < 64; i++) {
            uint32_t x = w[i - 15], y = w[i - 2];
            w[i] = w[i - 16] + (rotated(x, 7) ^ rotated(x, 18) ^ x >> 3) + w[i - 7]
                + (rotated(y, 17) ^ rotated(y, 19) ^ y >> 10);
        }
        uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
        uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
        for (int i = 0; i < 64; i++) {
            uint32_t one = h + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) + ((e & f) ^ (~e & g))
                + constants[i] + w[i];
            uint32_t two = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
            h = g, g = f, f = e, e = d + one;
            d = c, c = b, b = a, a = one + two;
        }
        state[0] += a, state[1] += b, state[2] += c, state[3] += d;
        state[4] += e, state[5] += f, state[6] += g, state[7] += h;
    }
}

#if defined(__x86_64__)

bool sha256_can_accelerate(void) {
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_SSSE3) || !(c & bit_SSE4_1)) return false;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & 1U << 29);
}

/* The SHA extensions keep the state as ABEF and CDGH; one instruction computes two rounds. */
__attribute__((target("sha,sse4.1,ssse3")))
static void add_blocks_accelerated(uint32_t state[8], const unsigned char *p, size_t count) {
    const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    uint32_t words[8] = {state[5], state[4], state[1], state[0], state[7], state[6], state[3], state[2]};
    __m128i abef = _mm_loadu_si128((const __m128i *)(const void *)&words[0]);
    __m128i cdgh = _mm_loadu_si128((const __m128i *)(const void *)&words[4]);
    for (; count > 0; count--, p += BLOCK) {
        __m128i abef_before = abef, cdgh_before = cdgh, w[4];
        for (size_t i = 0; i < 4; i++) {
            w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i)), big_endian);
        }
#pragma GCC unroll 16
        for (size_t i = 0; i < 16; i++) {
            __m128i now = w[i % 4];
            __m128i sum = _mm_add_epi32(now, _mm_load_si128((const __m128i *)(const void *)&constants[4 * i]));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0E));
            if (i < 12) {
                /* The words that are needed four steps from now. */
                __m128i one = w[(i + 1) % 4], two = w[(i + 2) % 4], three = w[(i + 3) % 4];
                __m128i part = _mm_add_epi32(_mm_sha256msg1_epu32(now, one), _mm_alignr_epi8(three, two, 4));
                w[i % 4] = _mm_sha256msg2_epu32(part, three);
            }
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    _mm_storeu_si128((__m128i *)(void *)&words[0], abef);
    _mm_storeu_si128((__m128i *)(void *)&words[4], cdgh);
    static const unsigned char places[8] = {5, 4, 1, 0, 7, 6, 3, 2};
    for (int i = 0; i < 8; i++) state[places[i]] = words[i];
}

#else

bool sha256_can_accelerate(void) { return false; }

static void add_blocks_accelerated(uint32_t state[8], const unsigned char *p, size_t count) {
    add_blocks(state, p, count);
}

#endif

void sha256(const void *bytes, size_t size, bool accelerated, unsigned char digest[SHA256_SIZE]) {
    uint32_t state[8] = {
        0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    void (*add)(uint32_t *, const unsigned char *, size_t) = accelerated ? add_blocks_accelerated : add_blocks;
    size_t whole = size / BLOCK, left = size % BLOCK;
    add(state, bytes, whole);

    unsigned char last[2 * BLOCK] = {0};
    if (left > 0) memcpy(last, (const unsigned char *)bytes + whole * BLOCK, left);
    last[left] = 0x80;
    size_t blocks = left < BLOCK - 8 ? 1 : 2;
    store((uint32_t)((uint64_t)size >> 29), last + blocks * BLOCK - 8);
    store((uint32_t)((uint64_t)size << 3), last + blocks * BLOCK - 4);
    add(state, last, blocks);
    for (size_t i = 0; i < 8; i++) store(state[i], digest + 4 * i);
}

void sha256_write_digits(const unsigned char digest[SHA256_SIZE], char digits[SHA256_DIGITS]) {
    for (size_t i = 0; i < SHA256_SIZE; i++) {
        digits[2 * i] = "0123456789abcdef"[digest[i] >> 4];
        digits[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
    }
}

bool sha256_is_hex(const char *text) {
    for (size_t i = 0; i < SHA256_DIGITS; i++) {
        bool is_digit = (text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f');
        if (!is_digit) return false;
    }
    return text[SHA256_DIGITS] == '\0';
}

bool sha256_is(const unsigned char digest[SHA256_SIZE], const char digits[SHA256_DIGITS]) {
    char own[SHA256_DIGITS];
    sha256_write_digits(digest, own);
    return memcmp(own, digits, SHA256_DIGITS) == 0;
}

static int value(char digit) { return digit <= '9' ? digit - '0' : digit - 'a' + 10; }

void sha256_read_digits(const char digits[SHA256_DIGITS], unsigned char digest[SHA256_SIZE]) {
    for (size_t i = 0; i < SHA256_SIZE; i++) {
        digest[i] = (unsigned char)(value(digits[2 * i]) << 4 | value(digits[2 * i + 1]));
    }
}
