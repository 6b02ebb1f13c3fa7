// SPDX-License-Identifier: Apache-2.0
// Calls of Linux that Swift's Glibc module leaves out.
#include <sys/vfs.h>

// Declared here, since <unistd.h> hides it without _GNU_SOURCE (syncfs(2)).
extern int syncfs(int fd);

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

// prctl(2) takes any number of arguments, and Swift calls no such function.
static inline int process_control(int option, unsigned long first, const void *second)
{
    return prctl(option, first, second, 0L, 0L);
}
