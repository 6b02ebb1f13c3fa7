/* SPDX-License-Identifier: Apache-2.0 */
#include "icons.h"

#include <stdlib.h>
#include <string.h>

/* Lists come from elsewhere: with a simpler hash, chosen URLs could all be in one bucket. */
static uint64_t hash(const struct icons *icons, const char *url) {
    unsigned char digest[SHA256_SIZE];
    sha256(url, strlen(url), icons->accelerated, digest);
    uint64_t result;
    memcpy(&result, digest, sizeof result);
    return result;
}

static struct icon **bucket(const struct icons *icons, uint64_t value) {
    return &icons->buckets[value & (icons->size - 1)];
}

struct icon *icons_find(const struct icons *icons, const char *url) {
    if (icons->size == 0) return NULL;
    uint64_t value = hash(icons, url);
    struct icon *icon = *bucket(icons, value);
    while (icon != NULL && (icon->hash != value || strcmp(icon->url, url) != 0)) icon = icon->next;
    return icon;
}

static void insert(struct icons *icons, struct icon *icon) {
    struct icon **place = bucket(icons, icon->hash);
    icon->next = *place;
    *place = icon;
}

static bool grow(struct icons *icons) {
    struct icons larger = {.size = icons->size == 0 ? 64 : 2 * icons->size, .count = icons->count};
    larger.accelerated = icons->accelerated;
    larger.buckets = calloc(larger.size, sizeof *larger.buckets);
    if (larger.buckets == NULL) return false;
    for (size_t i = 0; i < icons->size; i++) {
        struct icon *next;
        for (struct icon *icon = icons->buckets[i]; icon != NULL; icon = next) {
            next = icon->next;
            insert(&larger, icon);
        }
    }
    free(icons->buckets);
    *icons = larger;
    return true;
}

struct icon *icons_add(struct icons *icons, const char *url) {
    if (icons->count == icons->size && !grow(icons)) return NULL;
    size_t size = strlen(url) + 1;
    struct icon *icon = malloc(sizeof *icon + size);
    if (icon == NULL) return NULL;
    memset(icon, 0, sizeof *icon);
    memcpy(icon->url, url, size);
    icon->hash = hash(icons, url);
    insert(icons, icon);
    icons->count++;
    return icon;
}

void icons_remove(struct icons *icons, struct icon *icon) {
    struct icon **place = bucket(icons, icon->hash);
    while (*place != icon) place = &(*place)->next;
    *place = icon->next;
    icons->count--;
}

void icons_free(struct icons *icons) {
    for (size_t i = 0; i < icons->size; i++) {
        struct icon *next;
        for (struct icon *icon = icons->buckets[i]; icon != NULL; icon = next) {
            next = icon->next;
            free(icon);
        }
    }
    free(icons->buckets);
    memset(icons, 0, sizeof *icons);
}
