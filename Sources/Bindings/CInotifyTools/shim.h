// SPDX-License-Identifier: GPL-2.0-only
// libinotifytools, and what its callers need of Linux that Swift's Glibc module leaves out.
#include <inotifytools/inotify.h>
#include <inotifytools/inotifytools.h>

// Declared here, since <string.h> hides it without _GNU_SOURCE (strerrorname_np(3)).
extern const char *strerrorname_np(int error);
