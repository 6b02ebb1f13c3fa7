// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import HTTPRules
import TestSupport
import Testing

@testable import SyncAgent
@testable import SyncPlan

@Suite("HTTP/2 frames in any order", .hasIdentity)
struct RandomFramesTests {
    @Test(
        "HTTP/2 frames in any order neither end the process nor keep a download beyond its limits",
        arguments: 1...10 as ClosedRange<UInt64>)
    func frames(seed: UInt64) async throws {
        try await RawOrigin.runSecure { request in
            var generator = SeededGenerator(seed: seed << 32 + UInt64(request.connection << 16 + request.stream))
            return request.target == "*" ? [.send(settings(&generator))] : steps(for: request, &generator)
        } _: { origin, trust in
            var settings = Settings()
            settings.network.allow = [try #require(AddressRange("127.0.0.1"))]
            settings.fetch.idleTimeout = .milliseconds(100)
            settings.fetch.totalTimeout = .seconds(1)
            trust(&settings)
            try await withTemporaryFolder { [settings] folder in
                try await Fetching.run(settings, into: CacheFixture(folder).staging) { downloads in
                    try await withThrowingTaskGroup { group in
                        for number in 1...20 {
                            let url = "\(origin.baseURL)/\(number)"
                            let source = try IconSource(IconURL(url))
                            group.addTask {
                                let request = FetchRequest(url: IconURL(url), source: source, reason: .notCached)
                                return await downloads.fetch(request).outcome
                            }
                        }
                        for try await outcome in group { #expect(outcome != .cancelled) }
                    }
                }
            }
        }
    }
}

private func pick<T>(_ choices: [T], _ generator: inout SeededGenerator) -> T {
    choices[Int.random(in: choices.indices, using: &generator)]
}

private func settings(_ generator: inout SeededGenerator) -> [UInt8] {
    Frame.settings(pick([[:], [3: 1], [3: 5], [4: 0, 3: 1000], [1: 0, 2: 0, 6: 100]], &generator))
}

private func steps(for request: RawOrigin.Request, _ generator: inout SeededGenerator) -> [RawOrigin.Step] {
    var steps: [RawOrigin.Step] = []
    for _ in 0..<Int.random(in: 1...6, using: &generator) {
        let stream = pick([0, 0, 0, 0, 0, 2, -2, -4, 1], &generator) + request.stream
        steps.append(.send(frame(max(0, stream), &generator)))
    }
    return steps + pick([[], [], [], [], [], [], [], [], [.close], [.reset]], &generator)
}

private func frame(_ stream: Int, _ generator: inout SeededGenerator) -> [UInt8] {
    let isEnd = Bool.random(using: &generator)
    let number = pick([0, 1, 7, 100, 16_384, 65_535, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF], &generator)
    let bytes = (0..<Int.random(in: 0...40, using: &generator)).map { _ in UInt8.random(in: 0...255, using: &generator)
    }
    switch Int.random(in: 0..<20, using: &generator) {
    case 0..<6:
        let status = pick(["200", "200", "304", "404", "103", "100", "101", "099", "", "2000"], &generator)
        let field = pick(["content-length", "etag", "link", ":path", "Connection"], &generator)
        return Frame.headers(stream, [":status": status, field: pick(["0", "5", "x"], &generator)], end: isEnd)
    case 6..<9: return Frame.headers(stream, [":status": "200"], end: isEnd)
    case 9..<13: return Frame.data(stream, pick([[], [1], bytes, MisbehavingStream.icon], &generator), end: isEnd)
    case 13: return Frame.reset(stream, pick([0, 1, 7, 8, 13], &generator))
    case 14: return Frame.settings([pick([1, 3, 4, 5, 6, 99], &generator): number])
    case 15: return Frame.push(stream, promised: pick([2, 4, stream + 1], &generator), [":method": "GET"])
    case 16: return Frame.goAway(last: pick([0, stream, stream - 2, 0x7FFF_FFFF], &generator) & 0x7FFF_FFFF)
    case 17:
        return Frame.bytes(type: 8, stream: pick([0, stream], &generator), Array(Frame.reset(0, number).suffix(4)))
    case 18: return Frame.headers(stream, ["a": "b"], end: true)
    default:
        return Frame.bytes(
            type: UInt8.random(in: 0...12, using: &generator), flags: UInt8.random(in: 0...255, using: &generator),
            stream: pick([0, stream], &generator), bytes)
    }
}
