// SPDX-License-Identifier: GPL-2.0-only
import Glibc

/// Watches the mounts that the process sees.
///
/// inotify does not report a mount over a folder: it goes on watching the hidden folder below.
struct MountTable {
    /// The descriptor for which poll(2) reports `POLLPRI` after each mount and unmount (proc_pid_mountinfo(5)); −1,
    /// which it ignores, if /proc is not mounted.
    let descriptor = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
}
