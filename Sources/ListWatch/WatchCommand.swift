// SPDX-License-Identifier: GPL-2.0-only
import Glibc

/// Watches one folder, and reports changes on standard output, one record per line.
///
/// It answers any input with `alive`. The exit code is 0 when the watch is lost, standard input ends, or standard
/// output has no reader.
@main
enum WatchCommand {
    static func main() {
        // libdispatch otherwise writes to syslog for every worker thread of an unprivileged process.
        setenv("LIBDISPATCH_LOG", "NO", 0)
        // Without a reader, writing must fail instead of killing the process.
        signal(SIGPIPE, SIG_IGN)
        guard StandardStreams.areOpen else {
            StandardStreams.fail("standard input, output and error must be open", status: EX_USAGE)
        }
        // The library aborts the process if its descriptor is 1,024 or more.
        closefrom(STDERR_FILENO + 1)

        guard CommandLine.arguments.count == 2 else {
            StandardStreams.fail("usage: syncagent-watch FOLDER", status: EX_USAGE)
        }
        do throws(InotifyError) {
            try watch(CommandLine.arguments[1])
        } catch {
            StandardStreams.fail(error.description, status: EX_IOERR)
        }
    }

    private static func watch(_ path: String) throws(InotifyError) {
        // inotify does not report a mount over the folder: it keeps watching the hidden folder below. poll(2) reports
        // `POLLPRI` here after each mount (proc_pid_mountinfo(5)), and ignores −1, if /proc is not mounted.
        let mounts = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
        // Before the folder, so that no change of a link is missed.
        let links = LinkWatch(path: path)
        let folder: WatchedFolder
        do throws(InotifyError) {
            folder = try WatchedFolder(path: path)
        } catch {
            StandardStreams.write(.refused(errno: error.name))
            StandardStreams.fail(error.description, status: EX_CANTCREAT)
        }
        // Before it is ready: what changes from then on is reported.
        var silence = SilentChanges(folder: path)
        StandardStreams.write(.ready)

        var hasMore = false
        while true {
            var wakeup = StandardStreams.Wakeup()
            if !hasMore {
                guard
                    let next = StandardStreams.wait(
                        for: folder.descriptor, mounts: mounts, links: links.descriptor, timeout: silence.timeout)
                else { return }
                wakeup = next
            }
            var events = try folder.readEvents()
            if wakeup.areLinksChanged { links.drain() }
            let hasReason = wakeup.isQuestion || wakeup.areMountsChanged || wakeup.areLinksChanged
            if hasReason || silence.isDue, !folder.isAtItsPath { events.lose(.replaced) }
            if events.loss == nil, !events.hasMore { silence.look(hasReason: hasReason, &events) }
            events.records.forEach(StandardStreams.write)
            if events.loss != nil { return }
            if wakeup.isQuestion { StandardStreams.write(.alive) }
            hasMore = events.hasMore
        }
    }
}
