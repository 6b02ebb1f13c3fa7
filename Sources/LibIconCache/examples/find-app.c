/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the entries of an app's name in all lists, the best one first: state, URL, and the path of the image or why
 * there is none.
 *
 *     find-app NAME
 */
#include <iconcache.h>
#include <stdio.h>

static void print_app(const iconcache_app *app)
{
    switch (app->status) {
    case ICONCACHE_READY:
        printf("ready\t%s\t%s\n", app->icon, app->image->path);
        break;
    case ICONCACHE_PENDING:
        printf("pending\t%s\t\n", app->icon);
        break;
    case ICONCACHE_FAILED:
        printf("failed\t%s\t%s\n", app->icon, app->error);
        break;
    }
}

int main(int argc, char **argv)
{
    iconcache *cache = NULL;
    iconcache_snapshot *snapshot = NULL;
    iconcache_apps *apps = NULL;
    iconcache_error error;
    if (argc != 2) {
        fprintf(stderr, "usage: find-app NAME\n");
        return 64;
    }
    int code = iconcache_new(NULL, &cache, &error);
    if (code == ICONCACHE_OK)
        code = iconcache_snapshot_new(cache, &snapshot, &error);
    if (code == ICONCACHE_OK)
        code = iconcache_apps_of_name(snapshot, argv[1], &apps, &error);
    if (code != ICONCACHE_OK)
        fprintf(stderr, "%s\n", error.message);
    const iconcache_app *app;
    while ((app = iconcache_apps_next(apps)) != NULL)
        print_app(app);
    iconcache_apps_free(apps);
    iconcache_snapshot_free(snapshot);
    iconcache_free(cache);
    return code == ICONCACHE_OK ? 0 : 1;
}
