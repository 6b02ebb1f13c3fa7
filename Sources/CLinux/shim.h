// SPDX-License-Identifier: Apache-2.0
// Calls of Linux that Swift's Glibc module leaves out.
#include <sys/vfs.h>

// Declared here, since <unistd.h> hides it without _GNU_SOURCE (syncfs(2)).
extern int syncfs(int fd);
