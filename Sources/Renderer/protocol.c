// SPDX-License-Identifier: Apache-2.0
#include "protocol.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REQUEST_MAGIC = 0x51524e52, ANSWER_MAGIC = 0x41524e52 };

static void put(uint8_t *to, uint32_t value) {
    for (unsigned i = 0; i < 4; i++) to[i] = (uint8_t)(value >> 8 * i);
}

static uint32_t get(const uint8_t *from) {
    return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

static bool write_all(const void *bytes, size_t length) {
    const uint8_t *next = bytes;
    while (length > 0) {
        ssize_t count = write(STDOUT_FILENO, next, length);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        next += count;
        length -= (size_t)count;
    }
    return true;
}

// Less than `length` only at the end of the input.
static size_t read_all(void *bytes, size_t length) {
    size_t done = 0;
    while (done < length) {
        ssize_t count = read(STDIN_FILENO, (uint8_t *)bytes + done, length - done);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        done += (size_t)count;
    }
    return done;
}

bool protocol_greet(void) {
    uint8_t greeting[16] = "SYNCREND";
    put(greeting + 8, RENDERING);
    put(greeting + 12, render_kinds());
    return write_all(greeting, sizeof greeting);
}

static bool skip(size_t length) {
    uint8_t buffer[16384];
    while (length > 0) {
        size_t part = length < sizeof buffer ? length : sizeof buffer;
        if (read_all(buffer, part) < part) return false;
        length -= part;
    }
    return true;
}

enum received protocol_receive(struct request *request) {
    uint8_t head[16], rest[(MOST_SIZES + 2) * 4];
    size_t count = read_all(head, sizeof head);
    if (count == 0) return RECEIVED_END;
    if (count < sizeof head || get(head) != REQUEST_MAGIC) return RECEIVED_NONSENSE;
    *request = (struct request){.kind = get(head + 4), .flags = get(head + 8), .count = get(head + 12)};
    if ((request->flags & ~(uint32_t)ALL_FLAGS) != 0) return RECEIVED_NONSENSE;
    if (request->count == 0 || request->count > MOST_SIZES) return RECEIVED_NONSENSE;
    size_t length = (request->count + 2) * 4;
    if (read_all(rest, length) < length) return RECEIVED_NONSENSE;
    for (uint32_t i = 0; i < request->count; i++) {
        request->sizes[i] = get(rest + i * 4);
        if (request->sizes[i] == 0 || request->sizes[i] > LARGEST_SIZE) return RECEIVED_NONSENSE;
    }
    request->most_pixels = get(rest + length - 8);
    request->length = get(rest + length - 4);
    if (request->length > LONGEST_IMAGE) return RECEIVED_NONSENSE;
    request->bytes = malloc(request->length == 0 ? 1 : request->length);
    bool is_whole = request->bytes == NULL ? skip(request->length)
                                           : read_all(request->bytes, request->length) == request->length;
    return is_whole ? RECEIVED_REQUEST : RECEIVED_NONSENSE;
}

bool protocol_answer(const struct request *request, const struct answer *answer) {
    uint8_t head[12];
    put(head, ANSWER_MAGIC);
    put(head + 4, answer->verdict);
    if (answer->verdict != RENDERED) {
        size_t length = strlen(answer->reason);
        put(head + 8, (uint32_t)length);
        return write_all(head, 12) && write_all(answer->reason, length);
    }
    if (!write_all(head, 8)) return false;
    for (uint32_t i = 0; i < request->count; i++) {
        const struct rendition *rendition = &answer->renditions[i];
        put(head, rendition->width);
        put(head + 4, rendition->height);
        put(head + 8, (uint32_t)rendition->length);
        if (!write_all(head, 12) || !write_all(rendition->bytes, rendition->length)) return false;
    }
    return true;
}
