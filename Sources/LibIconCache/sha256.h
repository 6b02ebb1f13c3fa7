/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 (FIPS 180-4), and digests in hexadecimal. */
#ifndef ICONCACHE_SHA256_H
#define ICONCACHE_SHA256_H

#include <stdbool.h>
#include <stddef.h>

enum { SHA256_SIZE = 32, SHA256_DIGITS = 64 };

/* Whether the processor has instructions for it. The question can take a microsecond in a virtual machine. */
bool sha256_can_accelerate(void);
void sha256(const void *bytes, size_t size, bool accelerated, unsigned char digest[SHA256_SIZE]);

/* Writes the digits, without a zero byte. */
void sha256_write_digits(const unsigned char digest[SHA256_SIZE], char digits[SHA256_DIGITS]);
/* Whether a text consists of 64 digits and small letters up to f. */
bool sha256_is_hex(const char *text);
/* Whether a digest has these digits. */
bool sha256_is(const unsigned char digest[SHA256_SIZE], const char digits[SHA256_DIGITS]);
/* Reads digits that sha256_is_hex() accepts. */
void sha256_read_digits(const char digits[SHA256_DIGITS], unsigned char digest[SHA256_SIZE]);

#endif
