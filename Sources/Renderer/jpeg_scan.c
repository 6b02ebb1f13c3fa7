// SPDX-License-Identifier: Apache-2.0
#include "jpeg_scan.h"

struct bits {
    const uint8_t *next, *end;
    unsigned byte, left;
};

// The next bit; -1 if there is none up to the next marker.
static int next_bit(struct bits *bits) {
    if (bits->left == 0) {
        if (bits->next == bits->end) return -1;
        bits->byte = *bits->next++;
        if (bits->byte == 0xff) {
            if (bits->next == bits->end || *bits->next != 0) return -1;
            bits->next++;
        }
        bits->left = 8;
    }
    return bits->byte >> --bits->left & 1;
}

static bool skip_bits(struct bits *bits, int count) {
    while (count-- > 0) {
        if (next_bit(bits) < 0) return false;
    }
    return true;
}

// The codes of each length follow those of the shorter ones. -1 if there is none.
static int next_symbol(struct bits *bits, const JHUFF_TBL *table) {
    int code = 0, first = 0, index = 0;
    for (int length = 1; length <= 16; length++) {
        int bit = next_bit(bits);
        if (bit < 0) return -1;
        int count = table->bits[length];
        code = code << 1 | bit;
        if (code - first < count) return index + code - first < 256 ? table->huffval[index + code - first] : -1;
        first = (first + count) << 1;
        index += count;
    }
    return -1;
}

// Runs of zeros, each with the coefficient after it.
static bool skip_others(struct bits *bits, const JHUFF_TBL *table) {
    for (int index = 1; index < DCTSIZE2;) {
        int symbol = next_symbol(bits, table);
        if (symbol < 0) return false;
        int run = symbol >> 4, length = symbol & 0xf;
        if (length == 0 && run < 15) return true;
        index += run + 1;
        if (!skip_bits(bits, length)) return false;
    }
    return true;
}

static bool skip_restart(struct bits *bits) {
    bits->left = 0;
    if (bits->next == bits->end || *bits->next != 0xff) return false;
    while (bits->next < bits->end && *bits->next == 0xff) bits->next++;
    return bits->next < bits->end && (*bits->next++ & 0xf8) == 0xd0;
}

bool scan_lacks_end_only(const struct jpeg_decompress_struct *jpeg, const uint8_t *data, const uint8_t *end) {
    struct bits bits = {.next = data, .end = end};
    // Each unit takes some bits, so that there are no more rounds than bits.
    uint64_t units = (uint64_t)jpeg->MCUs_per_row * jpeg->MCU_rows_in_scan;
    for (uint64_t unit = 0; unit < units; unit++) {
        unsigned interval = jpeg->restart_interval;
        if (interval > 0 && unit > 0 && unit % interval == 0 && !skip_restart(&bits)) return false;
        for (int block = 0; block < jpeg->blocks_in_MCU; block++) {
            const jpeg_component_info *component = jpeg->cur_comp_info[jpeg->MCU_membership[block]];
            const JHUFF_TBL *first = jpeg->dc_huff_tbl_ptrs[component->dc_tbl_no];
            const JHUFF_TBL *others = jpeg->ac_huff_tbl_ptrs[component->ac_tbl_no];
            if (first == NULL || others == NULL) return false;
            int length = next_symbol(&bits, first);
            if (length < 0 || !skip_bits(&bits, length)) return false;
            if (unit == units - 1 && block == jpeg->blocks_in_MCU - 1) return true;
            if (!skip_others(&bits, others)) return false;
        }
    }
    return false;
}
