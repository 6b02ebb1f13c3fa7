// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import FoundationEssentials
import Glibc
import NIOHTTP1
import Reports
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import AgentServer
@testable import SyncAgent

@Suite("Images over HTTP", .timeLimit(.minutes(5)))
struct ImageSiteTests {
    private static let url: IconURL = "https://h.example/a b.png?size=1&x=ü"
    private static let query = "/icons?url=https%3A%2F%2Fh.example%2Fa%20b.png%3Fsize%3D1%26x%3D%C3%BC"
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + Array("the rest".utf8)

    @Test("an icon is found by its URL, by the URL's digest and by its own digest, with its type and its tag")
    func names() async throws {
        try await WebWorld.with { world in
            let path = try world.publish(Self.png, suffix: "png", as: Self.url)
            let hex = Digest.of(Self.url.text).hex
            try await world.servingImages { port in
                for (target, cache) in [
                    (Self.query, "no-cache"), ("/by-url/\(hex)", "no-cache"),
                    ("/by-url/\(hex.prefix(2))/\(hex)", "no-cache"),
                    ("/\(path)", "public, max-age=31536000, immutable"),
                ] {
                    let answer = try await WebWorld.ask(port, target)
                    #expect(answer.status == 200 && answer.body == Self.png, "\(target): \(answer)")
                    #expect(answer.fields["content-type"] == "image/png")
                    #expect(answer.fields["etag"] == "\"\(Digest.of(Self.png).hex)\"")
                    #expect(answer.fields["cache-control"] == cache)
                    #expect(answer.fields["content-length"] == "\(Self.png.count)")
                    #expect(answer.fields["x-content-type-options"] == "nosniff")
                    #expect(answer.fields["cross-origin-resource-policy"] == "cross-origin")
                    #expect(answer.fields["content-security-policy"]?.hasSuffix("; sandbox") == true)
                    let head = try await WebWorld.ask(port, .HEAD, target)
                    #expect(head.status == 200 && head.fields == answer.fields)
                }
            }
        }
    }

    @Test("a client that has the image gets 304, and one that has another gets the image")
    func revalidation() async throws {
        try await WebWorld.with { world in
            try world.publish(Self.png, suffix: "png", as: Self.url)
            try await world.servingImages { port in
                let tag = "\"\(Digest.of(Self.png).hex)\""
                let same = try await WebWorld.ask(port, Self.query, [("if-none-match", tag)])
                #expect(same.status == 304 && same.body.isEmpty && same.fields["etag"] == tag)
                let other = try await WebWorld.ask(port, Self.query, [("if-none-match", "\"other\"")])
                #expect(other.status == 200)
                // A refresh gives the name to another image.
                let newer = Self.png + [0]
                try world.publish(newer, suffix: "png", as: Self.url)
                let answer = try await WebWorld.ask(port, Self.query, [("if-none-match", tag)])
                #expect(answer.status == 200 && answer.body == newer)
            }
        }
    }

    @Test("a range gives a part of the image, also of a large one; a range behind the end is refused")
    func ranges() async throws {
        try await WebWorld.with { world in
            let bytes = Self.png + (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            let path = try world.publish(bytes, suffix: "png", as: Self.url)
            try await world.servingImages { port in
                for target in [Self.query, "/\(path)"] {
                    let whole = try await WebWorld.ask(port, target)
                    #expect(whole.body == bytes)
                    let part = try await WebWorld.ask(port, target, [("range", "bytes=100000-299999")])
                    #expect(part.status == 206 && part.body == Array(bytes[100_000..<300_000]))
                    #expect(part.fields["content-range"] == "bytes 100000-299999/\(bytes.count)")
                    #expect(part.fields["content-length"] == "200000")
                    let changed = try await WebWorld.ask(
                        port, target, [("range", "bytes=0-0"), ("if-range", "\"other\"")])
                    #expect(changed.status == 200 && changed.body.count == bytes.count)
                    let behind = try await WebWorld.ask(port, target, [("range", "bytes=\(bytes.count)-")])
                    #expect(behind.status == 416 && behind.fields["content-range"] == "bytes */\(bytes.count)")
                }
            }
        }
    }

    @Test("a part of another image than that of If-Match is not sent")
    func conditions() async throws {
        try await WebWorld.with { world in
            try world.publish(Self.png, suffix: "png", as: Self.url)
            try await world.servingImages { port in
                let tag = "\"\(Digest.of(Self.png).hex)\""
                for (condition, status) in [
                    (tag, 206), ("\"x\", \(tag)", 206), ("*", 206), ("\"other\"", 412), ("W/\(tag)", 412),
                ] as [(String, UInt)] {
                    let answer = try await WebWorld.ask(
                        port, Self.query, [("range", "bytes=3-"), ("if-match", condition)])
                    #expect(answer.status == status && answer.fields["etag"] == tag, "\(condition)")
                }
            }
        }
    }

    @Test("an image whose bytes are others than those of its digest is not served by that")
    func damaged() async throws {
        try await WebWorld.with { world in
            let path = try world.publish(Self.png, suffix: "png", as: Self.url)
            let file = world.cache.pushing(FilePath(path)).string
            try await world.servingImages { port in
                #expect(try await WebWorld.ask(port, "/\(path)").status == 200)
                try #require(chmod(file, 0o644) == 0)
                for (length, status) in [(3, 404), (Self.png.count, 404), (1 << 40, 500)] as [(Int, UInt)] {
                    try #require(truncate(file, length) == 0)
                    let answer = try await WebWorld.ask(port, "/\(path)")
                    #expect(answer.status == status && answer.fields["cache-control"] == "no-store", "\(length)")
                }
            }
        }
    }

    @Test("the media type of an image follows from its own bytes")
    func types() async throws {
        try await WebWorld.with { world in
            try await world.servingImages { port in
                for (bytes, type) in [
                    (Array("GIF89a".utf8), "image/gif"),
                    (Array("<svg xmlns=\"http://www.w3.org/2000/svg\"/>".utf8), "image/svg+xml"),
                    ([0, 0, 1, 0, 1, 0], "image/vnd.microsoft.icon"),
                ] as [([UInt8], String)] {
                    try world.publish(bytes, suffix: "png", as: Self.url)
                    let answer = try await WebWorld.ask(port, Self.query)
                    #expect(answer.status == 200 && answer.fields["content-type"] == type, "\(type)")
                }
            }
        }
    }

    @Test("an image that is damaged, or is none, is not served by its URL; one without its name in icons/ is")
    func intact() async throws {
        try await WebWorld.with { world in
            let byDigest = "/by-url/\(Digest.of(Self.url.text).hex)"
            let placeholder = world.cache.removingLastComponent().appending("placeholder.gif")
            try write("GIF89a", to: placeholder)
            try await world.servingImages(placeholder: placeholder) { port in
                func expect(_ status: UInt, _ what: Comment) async throws {
                    for target in [Self.query, byDigest] {
                        #expect(try await WebWorld.ask(port, target).status == status, what)
                    }
                    let answer = try await WebWorld.ask(port, Self.query + "&placeholder=")
                    #expect((answer.text == "GIF89a") == (status == 404), what)
                }
                let image = world.cache.pushing(FilePath(try world.publish(Self.png, suffix: "png", as: Self.url)))
                try #require(chmod(image.string, 0o644) == 0)
                try await expect(200, "as it was published")
                for damaged in [Self.png + [0], Array(Self.png.dropLast()) + [0], Array(Self.png.prefix(3)), []] {
                    try write(damaged, to: image)
                    try await expect(404, "\(damaged)")
                }
                try write(Self.png, to: image)
                try #require(unlink(image.string) == 0)
                try await expect(200, "without its name in icons/")

                try world.publish(Array("<html>".utf8), suffix: "png", as: Self.url)
                try await expect(404, "no image")
                let comment = "<!--\(String(repeating: " ", count: 70_000))-->"
                let drawing = comment + "<svg xmlns=\"http://www.w3.org/2000/svg\"/>"
                try world.publish(Array(drawing.utf8), suffix: "svg", as: Self.url)
                try await expect(200, "a drawing after a long comment")
                // Where the image has as many links as its file system allows, the name is a copy.
                let name = world.cache.pushing(FilePath(CacheLayout.byURL(Self.url)))
                try #require(unlink(name.string) == 0)
                try write(drawing, to: name)
                try await expect(200, "a copy of it")
            }
        }
    }

    @Test("a rendition that cannot be served gives way to a larger one, and that to the image")
    func sizes() async throws {
        try await WebWorld.with { world in
            let image = world.cache.pushing(FilePath(try world.publish(Self.png, suffix: "png", as: Self.url)))
            let rendition = Self.png + [64]
            try await world.servingImages { port in
                func name(_ text: String) throws -> FilePath {
                    let size = try #require(RenditionSize(text))
                    return world.cache.pushing(FilePath(CacheLayout.bySize(size, .of(Self.url.text))))
                }
                func expect(_ bytes: [UInt8], _ what: Comment) async throws {
                    let answer = try await WebWorld.ask(port, Self.query.replacing("?", with: "?size=48&"))
                    #expect(answer.status == 200 && answer.body == bytes, what)
                }
                for text in ["48", "64"] {
                    let folder = try name(text).removingLastComponent().string
                    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                }
                try #require(symlink(image.string, try name("48").string) == 0)
                try await expect(Self.png, "a link in place of the only rendition")
                let other: IconURL = "https://h.example/64.png"
                let file = world.cache.pushing(FilePath(try world.publish(rendition, suffix: "png", as: other)))
                try #require(link(file.string, try name("64").string) == 0)
                try await expect(rendition, "a link in place of the smaller rendition")
                try #require(chmod(file.string, 0o644) == 0)
                try write(Self.png + [0], to: file)
                try await expect(Self.png, "a damaged rendition")
            }
        }
    }

    @Test("an icon without an image is not found, and the answer says why")
    func absence() async throws {
        try await WebWorld.with { world in
            let pending: IconURL = "https://h.example/pending.png"
            // Loopback is not a public address.
            let failed: IconURL = "http://127.0.0.1:1/failed.png"
            _ = await world.agent.pin(failed, true)
            let now = world.agent.now
            try await waitUntil { await world.agent.ask { $0.report(on: failed, now: now) }??.state == "failed" }
            await world.agent.pause()
            _ = await world.agent.pin(pending, true)
            try await world.servingImages { port in
                for (url, code) in [
                    ("https://h.example/unknown.png", "unknown-url"), (pending.text, "pending"),
                    (failed.text, "address-refused"),
                ] {
                    let answer = try await WebWorld.ask(port, "/icons?url=\(url)")
                    #expect(answer.status == 404, "\(url)")
                    expectContains(answer.text, "\"code\": \"\(code)\"")
                    #expect(answer.fields["content-type"] == "application/json")
                    #expect(answer.fields["cache-control"] == "no-store")
                }
                let digest = Digest.of("nothing").hex
                for target in ["/by-url/\(digest)", "/icons/\(digest.prefix(2))/\(digest).png"] {
                    let answer = try await WebWorld.ask(port, target)
                    #expect(answer.status == 404, "\(target)")
                    expectContains(answer.text, "no-image")
                }
                #expect(try await WebWorld.ask(port, "/icons").status == 400)
            }
        }
    }

    @Test("a request with placeholder= gets the operator's image in place of a missing one")
    func placeholder() async throws {
        try await WebWorld.with { world in
            try world.publish(Self.png, suffix: "png", as: Self.url)
            let path = world.cache.removingLastComponent().appending("placeholder.gif")
            try write("GIF89a", to: path)
            try await world.servingImages(placeholder: path) { port in
                let missing = "/icons?url=https://h.example/none.png"
                let answer = try await WebWorld.ask(port, "\(missing)&size=64&placeholder=")
                #expect(answer.status == 200 && answer.text == "GIF89a")
                #expect(answer.fields["content-type"] == "image/gif" && answer.fields["cache-control"] == "no-cache")
                #expect(try await WebWorld.ask(port, missing).status == 404)
                #expect(try await WebWorld.ask(port, "\(Self.query)&placeholder=1").body == Self.png)
                try #require(unlink(path.string) == 0)
                #expect(try await WebWorld.ask(port, "\(missing)&placeholder=").status == 404)
            }
            try await world.servingImages { port in
                let answer = try await WebWorld.ask(port, "/icons?url=https://h.example/none.png&placeholder=")
                #expect(answer.status == 404)
            }
        }
    }

    @Test("paths other than those of images lead nowhere, however they are written")
    func traversal() async throws {
        try await WebWorld.with { world in
            let path = try world.publish(Self.png, suffix: "png", as: Self.url)
            try write("secret", to: world.cache.appending("manifest.json"))
            let hex = Digest.of(Self.url.text).hex
            try await world.servingImages { port in
                for target in [
                    "/manifest.json", "/icons/../manifest.json", "/icons/a%2fmanifest.json",
                    "/icons/%2e/manifest.json",
                    "//\(path)", "/\(path)/", "/\(path).", "/icons/00/\(path.suffix(68))", "/by-url/..", "/by-url/",
                    "/by-url/\(hex.uppercased())", "/by-url/00/\(hex)", "/by-url/\(hex)/..", "/by-url/\(hex)%20",
                    "/\(path.dropLast(3))svg", "/\(path.dropLast(3))", "/staging/x", "/", "/dashboard.js", "/v1/status",
                ] {
                    let answer = try await WebWorld.ask(port, target)
                    #expect(answer.status == 404 && !answer.text.contains("secret"), "\(target): \(answer)")
                }
                for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
                    let answer = try await WebWorld.ask(port, HTTPMethod(rawValue: method), Self.query)
                    #expect(answer.status == 405 && answer.fields["allow"] == "GET, HEAD")
                }
            }
        }
    }

    @Test("an image whose name is not a regular file is not served")
    func otherFiles() async throws {
        try await WebWorld.with { world in
            let path = world.cache.pushing(FilePath(try world.publish(Self.png, suffix: "png", as: Self.url)))
            let name = world.cache.pushing(FilePath(CacheLayout.byURL(Self.url)))
            try world.publish(Self.png + [0], suffix: "png", as: "https://h.example/other.png")
            try await world.servingImages { port in
                try #require(unlink(name.string) == 0 && symlink(path.string, name.string) == 0)
                #expect(try await WebWorld.ask(port, Self.query).status == 500)
                try #require(unlink(name.string) == 0 && mkfifo(name.string, 0o600) == 0)
                #expect(try await WebWorld.ask(port, Self.query).status == 404)
                try #require(unlink(name.string) == 0 && mkdir(name.string, 0o700) == 0)
                #expect(try await WebWorld.ask(port, Self.query).status == 404)
            }
        }
    }

    @Test("an image whose name goes while it is sent is sent to its end")
    func eviction() async throws {
        try await WebWorld.with { world in
            let bytes = Self.png + [UInt8](repeating: 7, count: 300_000)
            let path = try world.publish(bytes, suffix: "png", as: Self.url)
            let file = try #require(try await world.reader.open(.url(.of(Self.url.text))))
            try #require(unlink(world.cache.pushing(FilePath(path)).string) == 0)
            try #require(unlink(world.cache.pushing(FilePath(CacheLayout.byURL(Self.url))).string) == 0)
            let read = await world.reader.read(file, from: 200_000, count: 1000)
            #expect(read == Array(bytes[200_000..<201_000]) && file.length == bytes.count)
        }
    }
}
