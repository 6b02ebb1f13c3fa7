// SPDX-License-Identifier: Apache-2.0
// CRC-32 by the processor's instructions.
#include <libdeflate.h>
