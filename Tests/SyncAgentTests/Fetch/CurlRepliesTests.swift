// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import FoundationEssentials
import HTTPRules
import SyncPlan
import TestSupport
import Testing

@testable import SyncAgent

/// The replies of curl's test suite, where they are beside the checkout.
private enum CurlReplies {
    struct Reply: Decodable, Sendable {
        var file: String
        var name: String
        /// How curl ended on it.
        var exit: Int

        private enum CodingKeys: String, CodingKey {
            case file, name
            case exit = "curl_exit"
        }
    }

    static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "shared/corpora/http/curl-replies").path

    static var isPresent: Bool { FileManager.default.fileExists(atPath: folder) }

    static func all() throws -> [Reply] {
        try JSONDecoder().decode([Reply].self, from: Data(contentsOf: URL(filePath: "\(folder)/index.json")))
    }

    static func bytes(of reply: Reply) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(filePath: "\(folder)/\(reply.file)")))
    }

    /// A reply as curl's own test server sends it: white space that its file names, and CRLF in all heads.
    static func asSent(_ bytes: [UInt8]) -> [UInt8] {
        var sent: [UInt8] = []
        var rest = bytes[...]
        for (name, byte) in [("%CR", 13), ("%SP", 32), ("%TAB", 9)] as [(String, UInt8)] {
            rest.replace(Array(name.utf8), with: [byte])
        }
        var isInterim = false
        while let end = rest.firstIndex(of: 10) {
            let line = rest[..<end].last == 13 ? rest[..<end].dropLast() : rest[..<end]
            sent += line + [13, 10]
            rest = rest[(end + 1)...]
            if line.starts(with: "HTTP/1.1 10".utf8) { isInterim = true }
            guard line.isEmpty else { continue }
            guard isInterim else { break }
            isInterim = false
        }
        return sent + rest
    }

    /// The ends of curl that can mean that the reply is broken.
    static let broken: Set<Int> = [1, 8, 18, 52, 56, 61, 100]

    /// Where the end has to do with what that test of curl's asks for, and the reply is well formed.
    static let exempt: Set<String> = [
        "test1244-data1.http", "test1479-data.http", "test1563-data1.http", "test776-data1001.http",
    ]

    /// What curl takes, and is refused here.
    static let stricter: Set<String> = Set(
        [
            // Other transfer codings, or chunked twice.
            "1123-data", "1125-data", "1170-data", "1617-data", "1483-data", "1493-data",
            // A length besides the chunks.
            "365-data", "1677-data",
            // Chunks whose lines, or trailers, end in LF alone.
            "341-data", "1116-data", "1417-data",
            // Fields over two lines, and a field of 100 kB.
            "1274-data", "1940-data", "1556-data",
            // Conditions that only curl's own server reads.
            "46-data", "1415-data",
            // A body that never comes, for a HEAD request; one that is cut, which curl then resumes.
            "514-data", "3035-data1",
            // Heads without an end.
            "1032-data", "1591-data", "2304-data", "3034-data",
        ].map { "test\($0).http" })
}

@Suite(
    "The replies of curl's tests",
    .enabled(if: CurlReplies.isPresent, "shared/corpora/http/curl-replies is not beside the checkout"))
struct CurlRepliesTests {
    private enum End: Sendable {
        case answer(status: Int)
        case failure(String)
    }

    @Test("each reply of curl's tests ends its request, with an error where curl has one", arguments: [false, true])
    func replies(asSent: Bool) async throws {
        let replies = try CurlReplies.all()
        #expect(replies.count == 755)
        let bytes = Dictionary(
            uniqueKeysWithValues: try replies.map { reply in
                let bytes = try CurlReplies.bytes(of: reply)
                return ("/\(reply.file)", asSent ? CurlReplies.asSent(bytes) : bytes)
            })
        let ends = try await RawOrigin.run { request in
            [.send(bytes[request.target] ?? []), .close]
        } _: { origin in
            try await self.ends(of: replies, at: origin)
        }
        judge(replies, ends, asSent: asSent)
    }

    /// Asks for all replies, one after the other.
    ///
    /// Nearly each promises to keep its connection, which the origin then closes: of many at once, libcurl would try 5.
    private func ends(of replies: [CurlReplies.Reply], at origin: RawOrigin) async throws -> [String: End] {
        var settings = Settings()
        settings.network.allow = [try #require(AddressRange("127.0.0.1"))]
        settings.fetch.idleTimeout = .seconds(30)
        settings.fetch.connectTimeout = .seconds(30)
        return try await Wire.run(settings) { transport in
            var ends: [String: End] = [:]
            for reply in replies {
                ends[reply.file] = await Self.end(of: "\(origin.baseURL)/\(reply.file)", over: transport)
            }
            return ends
        }
    }

    private static func end(of url: String, over transport: Wire) async -> End {
        do {
            return .answer(status: try await transport.answer(from: url).status)
        } catch {
            return .failure((error as? FetchFailure)?.code.rawValue ?? "\(error)")
        }
    }

    private func judge(_ replies: [CurlReplies.Reply], _ ends: [String: End], asSent: Bool) {
        var table: [String: Int] = [:]
        var stricter: Set<String> = []
        for reply in replies {
            let isBroken = CurlReplies.broken.contains(reply.exit)
            let row = isBroken ? "broken (\(reply.exit))" : reply.exit == 0 ? "good" : "good, and ends otherwise"
            switch ends[reply.file] {
            case nil: Issue.record("\(reply.file) has no end")
            case .answer(let status):
                table["\(row): an answer", default: 0] += 1
                // The fetcher takes no other protocol.
                guard isBroken, status != 101, !CurlReplies.exempt.contains(reply.file) else { continue }
                Issue.record("\(reply.file) is taken: \(reply.name)")
            case .failure(let code):
                table["\(row): \(code)", default: 0] += 1
                #expect(code == "protocol" || code == "connection-closed", "\(reply.file): \(reply.name)")
                if !isBroken { stricter.insert(reply.file) }
            }
        }
        for (row, count) in table.sorted(by: { $0.key < $1.key }) { print("curl: \(row): \(count) replies") }
        guard asSent else { return }
        #expect(stricter.subtracting(CurlReplies.stricter).isEmpty)
    }
}
