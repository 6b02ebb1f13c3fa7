// SPDX-License-Identifier: GPL-2.0-only
#include <inotifytools/inotify.h>
#include <inotifytools/inotifytools.h>
