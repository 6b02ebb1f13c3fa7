// SPDX-License-Identifier: Apache-2.0
// What is used of libcrypto.
#include <openssl/evp.h>
#include <openssl/pem.h>
