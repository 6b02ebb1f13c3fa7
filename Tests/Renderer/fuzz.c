// SPDX-License-Identifier: Apache-2.0
// Renders any bytes: Tests/Renderer/fuzz builds and runs it. The first three bytes are the kind, the flags and a size.
#include <stdlib.h>
#include <string.h>

#include "../../Sources/Renderer/render.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerInitialize(int *count, char ***arguments);

// 0: the first byte tells.
static uint32_t only_kind;

int LLVMFuzzerInitialize(int *count, char ***arguments) {
    (void)count;
    (void)arguments;
    const char *kind = getenv("RENDER_KIND");
    only_kind = kind == NULL ? 0 : (uint32_t)atoi(kind);
    render_warm_up();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (size < 3) return 0;
    struct request request = {
        .kind = only_kind != 0 ? only_kind : bytes[0] % 10u,
        .flags = bytes[1] % 4u,
        .count = 2,
        .sizes = {16, bytes[2] % 100u + 1},
        .most_pixels = 1 << 16,
        .length = (uint32_t)(size - 3),
    };
    // A copy of this length, so that the sanitizer sees what reads behind it.
    request.bytes = malloc(size - 3 == 0 ? 1 : size - 3);
    if (request.bytes == NULL) abort();
    memcpy(request.bytes, bytes + 3, size - 3);
    struct answer answer = {0};
    render(&request, &answer);
    if (answer.verdict > TOO_LARGE || (answer.verdict == RENDERED) != (answer.reason[0] == '\0')) abort();
    for (uint32_t i = 0; answer.verdict == RENDERED && i < request.count; i++) {
        const struct rendition *rendition = &answer.renditions[i];
        if (rendition->length < 57 || memcmp(rendition->bytes, "\x89PNG", 4) != 0) abort();
        if (rendition->width > request.sizes[i] || rendition->height > request.sizes[i]) abort();
    }
    answer_clear(&answer);
    free(request.bytes);
    return 0;
}
