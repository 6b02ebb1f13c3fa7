// SPDX-License-Identifier: Apache-2.0
// What is used of libcrypto. `SHA256.swift` says why that includes functions that OpenSSL has deprecated.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
