/* SPDX-License-Identifier: Apache-2.0 */
#include "signals.h"

#include <errno.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { SECONDS = 2 };

static void close_if_open(int file) {
    if (file >= 0) close(file);
}

static int add(const struct signals *signals, int file) {
    struct epoll_event event = {.events = EPOLLIN};
    return epoll_ctl(signals->any, EPOLL_CTL_ADD, file, &event);
}

static int start(int timer) {
    const struct itimerspec times = {{SECONDS, 0}, {SECONDS, 0}};
    return timerfd_settime(timer, 0, &times, NULL);
}

int signals_begin(struct signals *signals, const char *folder) {
    *signals = (struct signals){-1, -1, -1, -1};
    signals->any = epoll_create1(EPOLL_CLOEXEC);
    signals->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    /* Without an instance, the timer remains. */
    signals->events = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    bool fails = signals->any < 0 || signals->timer < 0 || start(signals->timer) != 0
        || add(signals, signals->timer) != 0 || (signals->events >= 0 && add(signals, signals->events) != 0);
    if (fails) {
        int error = errno;
        signals_end(signals);
        return error;
    }
    signals_renew(signals, folder);
    return 0;
}

bool signals_renew(struct signals *signals, const char *folder) {
    uint64_t ticks;
    bool is_over = read(signals->timer, &ticks, sizeof ticks) > 0;
    if (signals->events < 0) return is_over;
    _Alignas(struct inotify_event) char buffer[4096];
    while (read(signals->events, buffer, sizeof buffer) > 0) {}
    const uint32_t mask = IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
    int newest = inotify_add_watch(signals->events, folder, mask);
    if (newest < 0) return is_over;
    if (signals->watch >= 0 && signals->watch != newest) inotify_rm_watch(signals->events, signals->watch);
    signals->watch = newest;
    return is_over;
}

void signals_wait(const struct signals *signals) { start(signals->timer); }

void signals_end(struct signals *signals) {
    close_if_open(signals->any);
    close_if_open(signals->events);
    close_if_open(signals->timer);
}
