// SPDX-License-Identifier: Apache-2.0
// The data of a sequential scan with Huffman codes (ITU-T T.81, annex F).
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jpeglib.h>

// Whether nothing is missing but the rest of the last block of the scan that the decoder reads: its first coefficient is
// there. Some files end so. The image checks of the agent have the same rule for files without an end marker.
//
// The data reaches from the scan header to whatever ends it, or at most to the end.
bool scan_lacks_end_only(const struct jpeg_decompress_struct *jpeg, const uint8_t *data, const uint8_t *end);
