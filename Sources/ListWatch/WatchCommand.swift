// SPDX-License-Identifier: GPL-2.0-only
import Glibc

/// Watches one folder and says on standard output, one record a line, that something has happened in it.
///
/// Whatever comes in on standard input is a question, which it answers with `alive`.
/// It ends with 0 when the watch is lost, when its standard input ends, and when nobody reads its standard output.
@main
enum WatchCommand {
    static func main() {
        // libdispatch otherwise writes to syslog for every worker thread of an unprivileged process.
        setenv("LIBDISPATCH_LOG", "NO", 0)
        // A reader that is gone is the end, and not a death.
        signal(SIGPIPE, SIG_IGN)
        guard StandardStreams.areOpen else {
            StandardStreams.fail("standard input, output and error have to be open", status: EX_USAGE)
        }
        // The library aborts the process when its descriptor is 1,024 or more.
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
        let mounts = MountTable()
        // Before the folder: what leads elsewhere from now on is told.
        let links = LinkWatch(path: path)
        let folder: WatchedFolder
        do throws(InotifyError) {
            folder = try WatchedFolder(path: path)
        } catch {
            StandardStreams.write(.refused(errno: error.name))
            StandardStreams.fail(error.description, status: EX_CANTCREAT)
        }
        StandardStreams.write(.ready)

        var hasMore = false
        while true {
            var call = StandardStreams.Call()
            if !hasMore {
                guard let next = StandardStreams.wait(for: folder.descriptor, mounts, links) else { return }
                call = next
            }
            var happenings = try folder.takeHappenings()
            if call.areLinksChanged { links.drain() }
            if call.isQuestion || call.areMountsChanged || call.areLinksChanged, !folder.isAtItsPath {
                happenings.note(.replaced)
            }
            happenings.records.forEach(StandardStreams.write)
            if happenings.loss != nil { return }
            if call.isQuestion { StandardStreams.write(.alive) }
            hasMore = happenings.hasMore
        }
    }
}
