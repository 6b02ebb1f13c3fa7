// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// Limits the system calls of this process (seccomp(2)): it can compute, use open descriptors, and exit.
///
/// Every other call fails with `EPERM`: no file or socket can be opened, no process started.
package enum SystemCallFilter {
    private static let allowed = [
        SYS_read, SYS_write,
        SYS_brk, SYS_mmap, SYS_munmap, SYS_mremap, SYS_madvise, SYS_futex, SYS_getrandom,
        SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_exit, SYS_exit_group,
    ]

    #if arch(x86_64)
        private static let machine = EM_X86_64
    #elseif arch(arm64)
        private static let machine = EM_AARCH64
    #endif

    /// Sets the filter for the calling thread, irrevocably; returns whether the kernel accepted it.
    package static func apply() -> Bool {
        guard process_control(PR_SET_NO_NEW_PRIVS, 1, nil) == 0 else { return false }
        var filter = program
        return filter.withUnsafeMutableBufferPointer { filter in
            var program = sock_fprog(len: UInt16(filter.count), filter: filter.baseAddress)
            return process_control(PR_SET_SECCOMP, UInt(SECCOMP_MODE_FILTER), &program) == 0
        }
    }

    /// The filter program: it loads fields of `seccomp_data`, compares, and returns the action.
    private static var program: [sock_filter] {
        let refuse = returning(UInt32(SECCOMP_RET_ERRNO) | UInt32(EPERM))
        // Code of other architectures, such as 32-bit code, has other call numbers.
        let architecture = UInt32(machine) | UInt32(__AUDIT_ARCH_64BIT) | UInt32(__AUDIT_ARCH_LE)
        var program = [loading(MemoryLayout<seccomp_data>.offset(of: \.arch)), skipping(1, if: architecture), refuse]
        program.append(loading(MemoryLayout<seccomp_data>.offset(of: \.nr)))
        for (index, call) in allowed.enumerated() {
            program.append(skipping(allowed.count - index, if: UInt32(call)))
        }
        return program + [refuse, returning(UInt32(SECCOMP_RET_ALLOW))]
    }

    private static func loading(_ offset: Int?) -> sock_filter {
        sock_filter(code: UInt16(BPF_LD | BPF_W | BPF_ABS), jt: 0, jf: 0, k: UInt32(offset ?? 0))
    }

    private static func skipping(_ count: Int, if value: UInt32) -> sock_filter {
        sock_filter(code: UInt16(BPF_JMP | BPF_JEQ | BPF_K), jt: UInt8(count), jf: 0, k: value)
    }

    private static func returning(_ action: UInt32) -> sock_filter {
        sock_filter(code: UInt16(BPF_RET | BPF_K), jt: 0, jf: 0, k: action)
    }
}
