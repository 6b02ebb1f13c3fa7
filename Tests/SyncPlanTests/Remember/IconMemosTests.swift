// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Testing

@testable import HTTPRules
@testable import SyncPlan

@Suite("Memos that are kept in one piece")
struct IconMemosTests {
    private static func response(_ url: String?, _ fields: [(name: String, value: String)]) -> PackedResponse {
        PackedResponse(
            StoredResponse(
                status: 200, url: url, fields: HTTPFields(fields), requestTime: Timestamp(sinceEpoch: .seconds(5)),
                responseTime: Timestamp(sinceEpoch: .nanoseconds(6))))
    }

    private static func trail(_ status: Int) -> FetchTrail? {
        FetchTrail([.init(url: "", status: status, allowedBy: "network.allow", proxy: nil)])
    }

    private static let failure = IconRecord.Failure(code: .http(503), message: "é", attempts: 3, nextAttempt: nil)

    private static let memos: [IconMemo] = [
        IconMemo(url: "", image: nil, freshUntil: .distantPast, failure: nil),
        IconMemo(
            url: "https://a.example/“é”", image: Digest.of("a"),
            packedResponse: response("https://a.example/“é”", [("ETag", "\"x\"")]), freshUntil: .distantPast,
            failure: failure, trail: trail(200)),
        IconMemo(
            url: "https://b.example/", image: Digest.of("b"), packedResponse: response("https://cdn.example/b", []),
            freshUntil: Timestamp(sinceEpoch: .seconds(7)), failure: nil, trail: trail(200)),
        IconMemo(
            url: "https://c.example/", image: nil, packedResponse: response(nil, [("Age", "1"), ("ETag", "\"y\"")]),
            freshUntil: .distantPast, failure: nil, trail: trail(302)),
        IconMemo(
            url: "https://d.example/", image: nil, packedResponse: response("", []), freshUntil: .distantPast,
            failure: failure, trail: nil),
    ]

    @Test("icon memos are returned in the order in which they were appended")
    func same() {
        #expect(Array(IconMemos(Self.memos)) == Self.memos)
        #expect(IconMemos().isEmpty)
    }

    @Test("icon memos lose their failures, and nothing else")
    func removeFailures() {
        var memos = IconMemos(Self.memos)
        memos.removeFailures()
        var expected = Self.memos
        for index in expected.indices { expected[index].failure = nil }
        #expect(Array(memos) == expected)
    }
}
