// SPDX-License-Identifier: GPL-2.0-only
import Glibc

/// Watches the mounts visible to the process.
///
/// inotify does not report a mount over a folder: it keeps watching the hidden folder below.
struct MountTable {
    /// poll(2) reports `POLLPRI` on it after each mount and unmount (proc_pid_mountinfo(5)); −1, which it ignores, if
    /// /proc is not mounted.
    let descriptor = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
}
