// SPDX-License-Identifier: GPL-2.0-only
// libinotifytools, and what its callers need of Linux that Swift's Glibc module leaves out.
#include <inotifytools/inotify.h>
#include <inotifytools/inotifytools.h>

// Declared here, since <string.h> hides it without _GNU_SOURCE (strerrorname_np(3)).
extern const char *strerrorname_np(int error);

#include <sys/syscall.h>
#include <unistd.h>

// What tells a folder from others that are or were at its path: its handle, in at most 128 bytes
// (name_to_handle_at(2), MAX_HANDLE_SZ).
struct folder_handle {
    unsigned int length;
    int type;
    unsigned char bytes[128];
};

// <fcntl.h> hides it without _GNU_SOURCE, and Swift calls no function that takes any number of arguments.
static inline int get_folder_handle(const char *path, struct folder_handle *handle)
{
    int mount;
    handle->length = sizeof handle->bytes;
    return syscall(SYS_name_to_handle_at, -100 /* AT_FDCWD */, path, handle, &mount, 0x400 /* AT_SYMLINK_FOLLOW */);
}
