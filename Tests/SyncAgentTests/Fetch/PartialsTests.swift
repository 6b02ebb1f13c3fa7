// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Glibc
import HTTPRules
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent

@Suite("Partial images on disk")
struct PartialsTests {
    private static let url: IconURL = "http://a/1"

    private static func partial(of url: IconURL = url, length: Int? = 1 << 20) throws -> PartialDownload {
        let now = AgentClock.wallTime
        let fields = HTTPFields([("ETag", "\"1\""), ("Content-Length", length.map(String.init) ?? "")])
        let response = StoredResponse(fields: fields, requestTime: now, responseTime: now)
        return try #require(
            PartialDownload(of: url, from: FetchTarget(url.text), response: response, fields: fields))
    }

    /// Writes that many bytes, and leaves the file as a process does that is killed.
    private func begin(_ partial: PartialDownload, in cache: CacheFixture, bytes: Int) async throws {
        let name = try await cache.staging.begin(partial)
        try await cache.staging.append(Array(repeating: 7, count: bytes), to: name)
    }

    @Test("a partial image of a killed agent is there at the next start, and can be continued")
    func killed() async throws {
        try await withTemporaryFolder { path in
            let cache = try CacheFixture(path)
            try await begin(Self.partial(), in: cache, bytes: 100_000)
            let restarted = try CacheFixture(path)
            let found = try #require(await restarted.staging.partial(of: Self.url))
            #expect(found.bytes == 100_000 && found.length == 1 << 20 && found.target == Self.url.text)
            let name = try #require(await restarted.staging.resume(found))
            try await restarted.staging.append([8, 9], to: name)
            let image = try await restarted.staging.end(name) { bytes in
                #expect(bytes.count == 100_002 && bytes.suffix(3) == [7, 8, 9])
                return AppListDocument.Image(
                    path: "", sha256: .of(bytes), bytes: bytes.count, type: "", width: 1, height: 1)
            }
            #expect(try restarted.names(in: "staging") == [image.name])
            let file = try FileDescriptor.open(path.appending("staging/\(image.name)"), .readOnly)
            defer { try? file.close() }
            #expect(try file.stat().permissions.rawValue & 0o222 == 0)
        }
    }

    @Test(
        "untrusted partial images and other files are removed at the start",
        arguments: ["another boot", "a damaged record", "no record", "another URL's record", "too little", "no bytes"])
    func untrusted(what: String) async throws {
        try await withTemporaryFolder { path in
            let cache = try CacheFixture(path)
            let partial = try Self.partial()
            try await begin(partial, in: cache, bytes: what == "too little" ? 65_535 : 65_536)
            let bytes = "staging/" + partial.file
            let record = StagingPath.record(of: partial.file)
            let text = String(decoding: try cache.folder.read(record), as: UTF8.self)
            switch what {
            case "another boot":
                try replace(record, with: text.replacing("\"boot\": \"", with: "\"boot\": \"0"), in: cache)
            case "a damaged record": try replace(record, with: String(text.dropLast(3)), in: cache)
            case "no record": cache.folder.remove(record)
            case "another URL's record": try replace(record, with: text.replacing("/1", with: "/2"), in: cache)
            case "no bytes": cache.folder.remove(bytes)
            default: break
            }
            try cache.folder.write("stray".utf8, to: "staging/1", mode: .ownerReadWrite)
            let restarted = try CacheFixture(path)
            #expect(restarted.restored.partials.isEmpty)
            #expect(try restarted.names(in: "staging").isEmpty)
        }
    }

    private func replace(_ name: String, with text: String, in cache: CacheFixture) throws {
        cache.folder.remove(name)
        try cache.folder.write(text.utf8, to: name, mode: .ownerReadWrite)
    }

    @Test("partial images stay within their bounds at any time")
    func bounds() async throws {
        try await withTemporaryFolder { path in
            let cache = try CacheFixture(path)
            for number in 0..<70 {
                var partial = try Self.partial(of: "http://a/\(number)")
                try await begin(partial, in: cache, bytes: 65_536)
                partial.bytes = 65_536
                await cache.staging.suspend(partial, now: AgentClock.wallTime)
            }
            #expect(try cache.names(in: "staging").count == 2 * PartialDownload.mostKept)
            #expect(await cache.staging.partial(of: "http://a/5") == nil)
            #expect(await cache.staging.partial(of: "http://a/69") != nil)
            #expect(try CacheFixture(path).restored.partials.count == PartialDownload.mostKept)
        }
    }

    @Test("a partial image is removed, but not while it is being written")
    func discard() async throws {
        try await withTemporaryFolder { path in
            let cache = try CacheFixture(path)
            var partial = try Self.partial()
            try await begin(partial, in: cache, bytes: 65_536)
            await cache.staging.discardPartials(of: [Self.url, "http://a/2"])
            #expect(try cache.names(in: "staging").count == 2)
            partial.bytes = 65_536
            await cache.staging.suspend(partial, now: AgentClock.wallTime)
            await cache.staging.discardPartials(of: [Self.url])
            #expect(try cache.names(in: "staging").isEmpty)
            #expect(await cache.staging.partial(of: Self.url) == nil)
        }
    }
}
