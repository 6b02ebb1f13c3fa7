// SPDX-License-Identifier: Apache-2.0
// The protocol on the standard input and output. All numbers are little endian, of 32 bits and without a sign.
//
//     greeting  "SYNCREND" rendering kinds
//     request   magic kind flags count size… most-pixels length bytes
//     answer    magic 0 (width height length bytes)…         for each size, in order
//               magic verdict length reason                   if the verdict is not 0
#pragma once

#include <stdbool.h>

#include "render.h"

// These return false if the other side is gone.
bool protocol_greet(void);
bool protocol_answer(const struct request *request, const struct answer *answer);

enum received { RECEIVED_REQUEST, RECEIVED_END, RECEIVED_NONSENSE };

// `bytes` is NULL if there is not enough memory for them; else free() frees it.
enum received protocol_receive(struct request *request);
