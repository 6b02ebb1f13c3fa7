// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Glibc
import ListParse

/// Reads one property list from standard input, and writes the verdict on it to standard output, as records.
///
/// The exit code is 0 for every verdict, also for a rejection. Any other end means that there is no verdict.
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
        // The first run initializes the parser, before the list arrives.
        _ = parser.parse(sample)
        do throws(ListRejection) {
            return parser.parse(try StandardStreams.read(atMost: limits.maxBytes.bytes + 1))
        } catch {
            return .failure(error)
        }
    }
}
