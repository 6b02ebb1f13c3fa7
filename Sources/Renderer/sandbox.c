// SPDX-License-Identifier: Apache-2.0
#include "sandbox.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

static void lower(int resource, rlim_t most) {
    struct rlimit limit;
    if (getrlimit((__rlimit_resource_t)resource, &limit) == 0) {
        if (limit.rlim_max > most) limit.rlim_max = most;
        if (limit.rlim_cur > limit.rlim_max) limit.rlim_cur = limit.rlim_max;
        if (setrlimit((__rlimit_resource_t)resource, &limit) == 0) return;
    }
    perror("syncagent-render: setrlimit");
    exit(71);
}

#if defined(ARCHITECTURE) && !defined(SANITIZED)

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, field))
#define LOW_HALF(argument) LOAD(args[argument])
#define UNLESS_EQUAL(value, skipped) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (skipped))
#define IF_ANY(bits, skipped) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), (skipped), 0)
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, (action))
#define ALLOW RETURN(SECCOMP_RET_ALLOW)
#define REFUSE RETURN(SECCOMP_RET_ERRNO | 1 /* EPERM */)
#define PERMIT(call) UNLESS_EQUAL(call, 1), ALLOW

static void filter_system_calls(void) {
    struct sock_filter filter[] = {
        LOAD(arch),
        // Other architectures, such as 32-bit code, have other call numbers.
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
        REFUSE,
        LOAD(nr),
        PERMIT(SYS_read),
        PERMIT(SYS_write),
        PERMIT(SYS_munmap),
        PERMIT(SYS_mremap),
        PERMIT(SYS_brk),
        PERMIT(SYS_madvise),
        PERMIT(SYS_rt_sigreturn),
        PERMIT(SYS_exit),
        PERMIT(SYS_exit_group),
#ifdef WITH_HEIF
        PERMIT(SYS_futex),
#endif
        // The argument is in the low half on both, as both are little endian.
        UNLESS_EQUAL(SYS_mmap, 3),
        LOW_HALF(2),
        IF_ANY(PROT_EXEC, 1),
        ALLOW,
        REFUSE,
    };
    struct sock_fprog program = {.len = sizeof filter / sizeof filter[0], .filter = filter};
    // Where the kernel has no filters, the limits remain.
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

#else

static void filter_system_calls(void) {}

#endif

void sandbox_enter(void) {
    closefrom(STDERR_FILENO + 1);
    // Use only CPU time that no other process needs.
    struct sched_param none = {0};
    sched_setscheduler(0, SCHED_BATCH, &none);
    setpriority(PRIO_PROCESS, 0, 19);
#ifndef SANITIZED
    // The sanitizers map terabytes, and make their own system calls.
    lower(RLIMIT_AS, 512 << 20);
#endif
    lower(RLIMIT_CPU, 600);
    lower(RLIMIT_CORE, 0);
    lower(RLIMIT_NOFILE, 0);
    lower(RLIMIT_NPROC, 0);
    // A core dump handler would run despite RLIMIT_CORE (core(5)).
    prctl(PR_SET_DUMPABLE, 0);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    filter_system_calls();
}
