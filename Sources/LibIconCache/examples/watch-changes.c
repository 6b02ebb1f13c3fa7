/* SPDX-License-Identifier: Apache-2.0 */
/* Prints every change of the cache, and errors as they come, until it is interrupted. */
#include <iconcache.h>
#include <poll.h>
#include <stdio.h>

static void print_change(const iconcache_change *change)
{
    switch (change->kind) {
    case ICONCACHE_LIST_ADDED:
    case ICONCACHE_LIST_CHANGED:
        printf("list\t%s\n", change->list);
        break;
    case ICONCACHE_LIST_REMOVED:
        printf("list removed\t%s\n", change->list);
        break;
    case ICONCACHE_ICON_READY:
    case ICONCACHE_ICON_REPLACED:
        printf("icon\t%s\t%s\n", change->url, change->image->path);
        break;
    case ICONCACHE_ICON_GONE:
        printf("icon gone\t%s\n", change->url);
        break;
    default:
        /* A later version of the library may have other kinds. */
        break;
    }
}

int main(void)
{
    iconcache *cache = NULL;
    iconcache_watch *watch = NULL;
    iconcache_error error;
    int code = iconcache_new(NULL, &cache, &error);
    if (code == ICONCACHE_OK)
        code = iconcache_watch_new(cache, &watch, &error);
    if (code != ICONCACHE_OK) {
        fprintf(stderr, "%s\n", error.message);
        iconcache_free(cache);
        return 1;
    }
    for (;;) {
        const iconcache_change *change;
        while ((code = iconcache_watch_next(watch, &change, &error)) == ICONCACHE_OK)
            print_change(change);
        fflush(stdout);
        if (code != ICONCACHE_ABSENT)
            fprintf(stderr, "%s\n", error.message);
        struct pollfd poller = {.fd = iconcache_watch_descriptor(watch), .events = POLLIN};
        poll(&poller, 1, -1);
    }
}
