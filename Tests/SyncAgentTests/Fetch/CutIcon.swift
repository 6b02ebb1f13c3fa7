// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import DemoOrigin
import HTTPRules
import NIOHTTP1
import SyncPlan
import TestSupport
import Testing

@testable import SyncAgent

/// An icon whose download is cut, and what a server answers then.
enum CutIcon {
    typealias Answer = ScriptedTransport.Answer

    static let url = "http://127.0.0.1/icon"
    static let bytes = IconDrawing("Large", paddedTo: 300_000).png()
    /// What the server has after a change, of the same size.
    static let other = IconDrawing("Other", paddedTo: 300_000).png()
    /// One that is written to a file as it arrives.
    static let streamed = IconDrawing("Large", paddedTo: 3_000_000).png()
    /// How much of it comes at first.
    static let cut = 200_000
    /// What is missing then.
    static let range = "bytes 200000-299999/300000"
    /// What a request has that asks for it.
    static let asked = ["bytes=200000-", "\"1\""]

    /// The beginning of an image, after which the connection ends.
    static func beginning(of image: [UInt8] = bytes, _ headers: HTTPHeaders = ["ETag": "\"1\""]) -> Answer {
        var headers = headers
        headers.replaceOrAdd(name: "Content-Length", value: "\(image.count)")
        return Answer(200, headers, body: Array(image.prefix(cut)), isCut: true)
    }

    /// The rest of the image, as a server sends it that supports ranges; or one that says it is another range.
    static func rest(
        _ range: String? = range, _ headers: HTTPHeaders = ["ETag": "\"1\""], of image: [UInt8] = bytes
    ) -> Answer {
        var headers = headers
        if let range { headers.add(name: "Content-Range", value: range) }
        return Answer(206, headers, body: Array(image.dropFirst(cut)))
    }

    /// Asks for the icon twice, or more often, from a server with these answers: the last one is for all others too.
    ///
    /// - Returns: What came of it each time, and for each request `Range` and `If-Range`.
    static func fetch(
        _ answers: Answer..., times: Int = 2, validators: Validators? = nil, change: (inout Settings) -> Void = { _ in }
    ) async throws -> (fetches: [HostileFetch], requests: [[String]]) {
        let transport = ScriptedTransport { _, number in answers[min(number, answers.count) - 1] }
        let fetches = try await fetch(times, over: transport, validators: validators, change: change)
        return (fetches, transport.requests.map { conditions($0.headers) })
    }

    static func fetch(
        _ times: Int, over transport: ScriptedTransport, validators: Validators? = nil,
        change: (inout Settings) -> Void = { _ in }
    ) async throws -> [HostileFetch] {
        var settings = Settings()
        settings.network.allow = [try #require(AddressRange("127.0.0.1"))]
        change(&settings)
        return try await withTemporaryFolder { [settings] path in
            try await CacheFixture(path).fetch(
                Array(repeating: url, count: times), over: transport, settings, validators: validators)
        }
    }

    static func conditions(_ headers: HTTPHeaders) -> [String] { headers["Range"] + headers["If-Range"] }
}
