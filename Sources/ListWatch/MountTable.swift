// SPDX-License-Identifier: GPL-2.0-only
import Glibc

/// What is mounted where, as the process sees it.
///
/// inotify tells nothing of what is mounted over a folder: the folder below is watched still, and nobody sees it.
struct MountTable {
    /// What poll(2) has `POLLPRI` for once whenever something is mounted or unmounted (proc_pid_mountinfo(5)); −1, of which
    /// it tells nothing, where /proc is not mounted.
    let descriptor = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
}
