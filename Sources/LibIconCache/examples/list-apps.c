/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the entries of all app lists: list, URL, and the path of the image if there is one. */
#include <iconcache.h>
#include <stdio.h>

static int print_list(const iconcache_snapshot *snapshot, const char *list, iconcache_error *error)
{
    iconcache_apps *apps;
    int code = iconcache_apps_new(snapshot, list, &apps, error);
    if (code != ICONCACHE_OK)
        return code;
    const iconcache_app *app;
    while ((app = iconcache_apps_next(apps)) != NULL)
        printf("%s\t%s\t%s\n", list, app->icon, app->image != NULL ? app->image->path : "");
    iconcache_apps_free(apps);
    return ICONCACHE_OK;
}

int main(void)
{
    iconcache *cache = NULL;
    iconcache_snapshot *snapshot = NULL;
    iconcache_error error;
    int code = iconcache_new(NULL, &cache, &error);
    if (code == ICONCACHE_OK)
        code = iconcache_snapshot_new(cache, &snapshot, &error);
    size_t count = iconcache_snapshot_lists(snapshot);
    for (size_t i = 0; code == ICONCACHE_OK && i < count; i++)
        code = print_list(snapshot, iconcache_snapshot_list(snapshot, i)->name, &error);
    if (code != ICONCACHE_OK)
        fprintf(stderr, "%s\n", error.message);
    iconcache_snapshot_free(snapshot);
    iconcache_free(cache);
    return code == ICONCACHE_OK ? 0 : 1;
}
