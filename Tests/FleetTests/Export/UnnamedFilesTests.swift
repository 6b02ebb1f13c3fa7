// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Fleet
import Testing

@Suite("Files that an exported manifest no longer names")
struct UnnamedFilesTests {
    private let paths = (0..<4).map { "lists/\(Digest.of("\($0)").hex).json" }
    private let start = Timestamp(sinceEpoch: .seconds(1_795_000_000))
    private let week = Duration.seconds(7 * 86_400)

    @Test("files that no export names are removed after the whole time, and not before")
    func due() {
        var files = UnnamedFiles()
        #expect(files.update(present: paths, named: [paths[0]], now: start, keep: week) == [])
        #expect(files.since == [paths[1]: start, paths[2]: start, paths[3]: start])
        let before = start + (week - .seconds(1))
        #expect(files.update(present: paths, named: [paths[0]], now: before, keep: week) == [])
        #expect(files.update(present: paths, named: [paths[0]], now: start + week, keep: week) == paths[1...].sorted())
        #expect(files.since.isEmpty)
    }

    @Test("the time of an unnamed file begins anew when it is named in between")
    func namedAgain() {
        var files = UnnamedFiles()
        _ = files.update(present: paths, named: [], now: start, keep: week)
        _ = files.update(present: paths, named: Set(paths), now: start + .seconds(60), keep: week)
        #expect(files.since.isEmpty)
        #expect(files.update(present: paths, named: [], now: start + week, keep: week) == [])
    }

    @Test("the time of unnamed files begins anew when the record is lost, and ignores a clock ahead")
    func clocks() {
        var lost = UnnamedFiles(text: [])
        #expect(lost.update(present: paths, named: [], now: start + week, keep: week) == [])
        var ahead = UnnamedFiles()
        _ = ahead.update(present: paths, named: [], now: start + week * 100, keep: week)
        _ = ahead.update(present: paths, named: [], now: start, keep: week)
        #expect(ahead.update(present: paths, named: [], now: start + week, keep: week).count == 4)
    }

    @Test("unnamed files are never those of others, nor missing ones")
    func foreign() {
        var files = UnnamedFiles()
        let others = ["index.html", "icons/logo.png", "lists/.x.new", "manifest.json"]
        #expect(files.update(present: others + [paths[0]], named: [], now: start, keep: .zero) == [paths[0]])
        _ = files.update(present: paths, named: [], now: start, keep: week)
        _ = files.update(present: [], named: [], now: start, keep: week)
        #expect(files.since.isEmpty)
    }

    @Test("unnamed files are read back from their record, whose damaged lines are ignored")
    func record() {
        var files = UnnamedFiles()
        _ = files.update(present: paths, named: [], now: start, keep: week)
        #expect(UnnamedFiles(text: files.text) == files)
        let damaged =
            Array("x\n2026-11-21T02:44:52Z\n2026-11-21T02:44:52Z ../../etc/passwd\n\0\n".utf8) + files.text + [0xFF]
        #expect(UnnamedFiles(text: damaged) == files)
    }
}
