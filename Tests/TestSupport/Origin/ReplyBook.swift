// SPDX-License-Identifier: Apache-2.0
import DemoOrigin
import Synchronization

/// The responses of the origin by path, and the counts of requests.
///
/// A path without a script gets its drawn icon if it is `/icons/NAME.png`, else a `404`.
final class ReplyBook: Sendable {
    typealias Script = @Sendable (OriginRequest) async -> OriginReply

    private struct Pages {
        var scripts: [String: Script] = [:]
        var held: [String: Gate] = [:]
    }

    let tally = Tally()
    private let pages = Mutex(Pages())

    func write(_ script: @escaping Script, for path: String) {
        pages.withLock { $0.scripts[path] = script }
    }

    func hold(_ path: String) {
        pages.withLock { pages in
            if pages.held[path] == nil { pages.held[path] = Gate() }
        }
    }

    func release(_ path: String) {
        pages.withLock { $0.held.removeValue(forKey: path) }?.open()
    }

    /// Counts a request, waits while its path is held, and returns the response of the script set by then.
    ///
    /// - Throws: `CancellationError` if the origin ends while the path is held.
    func reply(method: String, target: String, headers: [String: String]) async throws -> OriginReply {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = String(parts[0])
        let request = OriginRequest(
            method: method,
            path: path,
            query: parts.count == 2 ? String(parts[1]) : nil,
            headers: headers,
            number: tally.add(path))
        try await pages.withLock { $0.held[path] }?.wait()
        guard let script = pages.withLock({ $0.scripts[path] }) else { return Self.drawn(for: request) }
        return await script(request)
    }

    private static func drawn(for request: OriginRequest) -> OriginReply {
        guard let name = IconPath.name(in: request.path) else { return OriginReply(status: 404) }
        guard ["GET", "HEAD"].contains(request.method) else {
            return OriginReply(status: 405, headers: [("Allow", "GET, HEAD")])
        }
        guard let side = number(request.parameter("side"), in: IconDrawing.sides, default: 64),
            let bytes = number(request.parameter("bytes"), in: IconDrawing.sizes, default: 0)
        else { return OriginReply(status: 400) }
        return OriginReply.icon(IconDrawing(name, side: side, paddedTo: bytes)).revalidated(for: request)
    }

    private static func number(_ text: Substring?, in range: ClosedRange<Int>, default: Int) -> Int? {
        guard let text else { return `default` }
        return Int(text).flatMap { range.contains($0) ? $0 : nil }
    }
}
