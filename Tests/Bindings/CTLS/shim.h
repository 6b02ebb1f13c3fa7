// SPDX-License-Identifier: Apache-2.0
// What the origin of the tests uses of libssl.
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
