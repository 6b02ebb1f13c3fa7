// SPDX-License-Identifier: Apache-2.0
// syncagent-render: renders images in several sizes as PNG. It reads requests from the standard input and writes
// answers to the standard output; see protocol.h.
#include <gif_lib.h>
#include <lcms2.h>
#include <png.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <webp/decode.h>
#include <zlib.h>

#include <jpeglib.h>
#ifdef WITH_HEIF
#include <libheif/heif.h>
#endif

#include "decoders.h"
#include "protocol.h"
#include "sandbox.h"

enum { EXIT_USAGE = 64, EXIT_NONSENSE = 65, EXIT_OUTPUT = 74 };

static void print_version(void) {
    int webp = WebPGetDecoderVersion(), lcms = cmsGetEncodedCMMversion();
    int jpeg = LIBJPEG_TURBO_VERSION_NUMBER;
    printf("syncagent-render %s (rendering %d; ", VERSION, RENDERING);
    printf("libpng %s, zlib %s, ", png_get_libpng_ver(NULL), zlibVersion());
    printf("libjpeg-turbo %d.%d.%d, ", jpeg / 1000000, jpeg / 1000 % 1000, jpeg % 1000);
    printf("giflib %d.%d.%d, libwebp %d.%d.%d, ", GIFLIB_MAJOR, GIFLIB_MINOR, GIFLIB_RELEASE, webp >> 16,
           webp >> 8 & 255, webp & 255);
#ifdef WITH_HEIF
    printf("libheif %s, ", heif_get_version());
#endif
#ifdef WITH_JXL
    unsigned jxl = jxl_version();
    if (jxl > 0) printf("libjxl %u.%u.%u, ", jxl / 1000000, jxl / 1000 % 1000, jxl % 1000);
#endif
    printf("lcms %d.%d)\n", lcms / 1000, lcms / 10 % 100);
}

static int serve(void) {
    for (;;) {
        struct request request;
        enum received received = protocol_receive(&request);
        if (received == RECEIVED_END) return 0;
        if (received == RECEIVED_NONSENSE) return EXIT_NONSENSE;
        struct answer answer = {0};
        if (request.bytes != NULL) {
            render(&request, &answer);
        } else {
            answer.verdict = TOO_LARGE;
            strcpy(answer.reason, "there is not enough memory for its bytes");
        }
        free(request.bytes);
        bool is_written = protocol_answer(&request, &answer);
        answer_clear(&answer);
        if (!is_written) return EXIT_OUTPUT;
    }
}

int main(int count, char **arguments) {
    if (count == 2 && strcmp(arguments[1], "--version") == 0) {
        print_version();
        return 0;
    }
    if (count != 1) {
        fputs("usage: syncagent-render [--version]\n", stderr);
        return EXIT_USAGE;
    }
    // Gives the memory of large pictures back. By default, the threshold rises with what was freed.
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    render_warm_up();
    sandbox_enter();
    return protocol_greet() ? serve() : EXIT_OUTPUT;
}
