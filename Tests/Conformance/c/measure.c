/* SPDX-License-Identifier: Apache-2.0 */
/* Prints how long the C reader takes, for Tests/Conformance/measure: measure FOLDER URL LIST. */
#include <iconcache.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LOOKUPS = 100000 };

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* In KiB. The figure of getrusage(2) includes what the parent had before this program was executed. */
static long most_memory(void) {
    char line[256];
    long memory = 0;
    FILE *status = fopen("/proc/self/status", "r");
    if (status == NULL) return 0;
    while (fgets(line, sizeof line, status) != NULL && sscanf(line, "VmHWM: %ld", &memory) != 1) {}
    fclose(status);
    return memory;
}

int main(int argc, char **argv) {
    iconcache *cache;
    iconcache_snapshot *snapshot;
    iconcache_apps *apps;
    if (argc != 4 || iconcache_new(argv[1], &cache, NULL) != ICONCACHE_OK) return 1;
    size_t size = iconcache_path_size(cache);
    char *path = malloc(size);
    double lookups[2], start;
    for (unsigned pixels = 0; pixels <= 64; pixels += 64) {
        start = seconds();
        for (int i = 0; i < LOOKUPS; i++) {
            if (iconcache_path_for_pixels(cache, argv[2], pixels, path, size, NULL) != ICONCACHE_OK) return 1;
        }
        lookups[pixels / 64] = (seconds() - start) / LOOKUPS;
    }
    start = seconds();
    if (iconcache_snapshot_new(cache, &snapshot, NULL) != ICONCACHE_OK) return 1;
    if (iconcache_apps_new(snapshot, argv[3], &apps, NULL) != ICONCACHE_OK) return 1;
    long count = 0, ready = 0;
    const iconcache_app *app;
    while ((app = iconcache_apps_next(apps)) != NULL) {
        count++;
        ready += app->image != NULL;
    }
    double walk = seconds() - start;
    printf("%.2f %.2f %.0f %ld %ld %ld\n", lookups[0] * 1e6, lookups[1] * 1e6, walk * 1e3, most_memory() / 1024, count,
        ready);
    iconcache_apps_free(apps);
    iconcache_snapshot_free(snapshot);
    iconcache_free(cache);
    free(path);
    return 0;
}
