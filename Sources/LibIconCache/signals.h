/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals that a folder may have a new manifest: at once by inotify(7), and every two seconds in any case.
 *
 * Some file systems report nothing, inotify does not follow a folder that is made again, and each user has a limited
 * number of watches. So a signal only means “look again”.
 */
#ifndef ICONCACHE_SIGNALS_H
#define ICONCACHE_SIGNALS_H

#include <stdbool.h>

struct signals {
    int any; /* an epoll(7) instance, readable if one of the others is */
    int events, timer;
    int watch; /* -1: no folder is watched */
};

/* Returns 0, or an errno(3) number. The folder need not exist. */
int signals_begin(struct signals *signals, const char *folder);
/* Clears what there is. Watches the folder that is at the path now. Returns whether the time was over. */
bool signals_renew(struct signals *signals, const char *folder);
/* Begins the two seconds again. */
void signals_wait(const struct signals *signals);
void signals_end(struct signals *signals);

#endif
