/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the path of a URL's image, or why there is none.
 *
 *     icon-path URL [PIXELS]
 *
 * With PIXELS, it is the smallest rendition that is large enough, or else the image itself.
 */
#include <iconcache.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    iconcache *cache;
    iconcache_error error;
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: icon-path URL [PIXELS]\n");
        return 64;
    }
    uint32_t pixels = argc == 3 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
    int code = iconcache_new(NULL, &cache, &error);
    size_t size = iconcache_path_size(cache);
    char *path = malloc(size);
    if (code == ICONCACHE_OK)
        code = iconcache_path_for_pixels(cache, argv[1], pixels, path, size, &error);
    if (code == ICONCACHE_OK)
        puts(path);
    else
        fprintf(stderr, "%s\n", error.message);
    free(path);
    iconcache_free(cache);
    return code == ICONCACHE_OK ? 0 : 1;
}
