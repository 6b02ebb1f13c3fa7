// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Glibc
import ListParse

/// Reads one property list from standard input and writes its verdict, as records, to standard output.
///
/// A list that is turned away is a verdict too, and ends with 0. Any other end means that the parser did not come to one.
@main
enum ParseCommand {
    static func main() {
        // libdispatch otherwise writes to syslog for every worker thread of an unprivileged process.
        setenv("LIBDISPATCH_LOG", "NO", 0)
        do throws(ParserError) {
            let limits = try ParseOptions.limits(from: CommandLine.arguments.dropFirst())
            try ProcessLimits.apply()
            StandardStreams.write(ParseRecord.encode(verdict(limits), atMost: limits.maxText))
        } catch {
            StandardStreams.fail(error.description, status: error.exitStatus)
        }
    }

    private static let sample = Array(
        "<plist><array><dict><key>icon</key><string>http://a.example/</string></dict></array></plist>".utf8)

    private static func verdict(_ limits: ListLimits) -> ListVerdict {
        let parser = ListParser(limits: limits)
        // What takes its time the first time is done before the list is there.
        _ = parser.parse(sample)
        do throws(ListRejection) {
            return parser.parse(try StandardStreams.read(atMost: limits.maxBytes.bytes + 1))
        } catch {
            return .failure(error)
        }
    }
}
