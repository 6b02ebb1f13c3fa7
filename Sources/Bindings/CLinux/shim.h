// SPDX-License-Identifier: Apache-2.0
// Calls of Linux that Swift's Glibc module leaves out.
#include <dirent.h>
#include <malloc.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <sys/vfs.h>

// Declared here, since <unistd.h> hides it without _GNU_SOURCE (syncfs(2)).
extern int syncfs(int fd);
// The same of dup(2) and pipe(2).
extern int dup3(int fd, int other, int flags);
extern int pipe2(int fds[2], int flags);
// The same of <string.h> (memmem(3)).
extern void *memmem(const void *text, size_t size, const void *mark, size_t length);
// The same of posix_spawn(3).
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/types.h>

// The handle of an open file: how long it is, of what type, and its bytes (name_to_handle_at(2), MAX_HANDLE_SZ).
struct open_file_handle {
    unsigned int length;
    int type;
    unsigned char bytes[128];
};

// <fcntl.h> hides it without _GNU_SOURCE, and Swift calls no function that takes any number of arguments.
static inline int get_file_handle(int fd, struct open_file_handle *handle)
{
    int mount;
    handle->length = sizeof handle->bytes;
    return syscall(SYS_name_to_handle_at, fd, "", handle, &mount, 0x1000 /* AT_EMPTY_PATH */);
}

// A descriptor of a process, readable when it has ended, and a signal by it, which reaches no other that got the same
// number since (pidfd_open(2), pidfd_send_signal(2)). The C library has them only since 2.36.
static inline int open_process(pid_t process)
{
    return syscall(SYS_pidfd_open, process, 0);
}

static inline int signal_process(int process, int signal)
{
    return syscall(SYS_pidfd_send_signal, process, signal, (void *)0, 0);
}

// Whether no program has a file open for writing; `fd` is open for reading. The kernel grants a lease only then, which is
// given up at once (F_SETLEASE in fcntl(2)). A program that breaks it meanwhile causes SIGURG, which is ignored: SIGIO kills.
static inline int has_no_writer(int fd)
{
    enum { SET_SIGNAL = 10, SET_LEASE = 1024, READ = 0, NONE = 2, URGENT = 23 };
    return syscall(SYS_fcntl, fd, SET_SIGNAL, URGENT) == 0 && syscall(SYS_fcntl, fd, SET_LEASE, READ) == 0
        && syscall(SYS_fcntl, fd, SET_LEASE, NONE) == 0;
}

// Exchanges what two names stand for, at once (RENAME_EXCHANGE in renameat2(2)).
static inline int exchange_names(const char *one, const char *other)
{
    return syscall(SYS_renameat2, -100 /* AT_FDCWD */, one, -100, other, 2);
}

// Opens a file that is below a folder even if links are followed, for reading (openat2(2)).
static inline int open_beneath(int folder, const char *path, int flags)
{
    struct { unsigned long long flags, mode, resolve; } how = {
        flags | 02000000 /* O_CLOEXEC */, 0,
        0x02 /* RESOLVE_NO_MAGICLINKS */ | 0x08 /* RESOLVE_BENEATH */ };
    return syscall(437 /* SYS_openat2 */, folder, path, &how, sizeof how);
}

// prctl(2) takes any number of arguments, and Swift calls no such function.
static inline int process_control(int option, unsigned long first, const void *second)
{
    return prctl(option, first, second, 0L, 0L);
}

// An entry of a folder ends with its name (readdir(3)): to copy all 256 bytes of the field, as Swift does, reads what may
// not be there.
static inline const char *entry_name(const struct dirent *entry)
{
    return entry->d_name;
}
