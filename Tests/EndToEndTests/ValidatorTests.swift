// SPDX-License-Identifier: Apache-2.0
import DemoOrigin
import FuzzTargets
import HTTPRules
import IconCache
import Reports
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Revalidation", .timeLimit(.minutes(15)), .serialized)
struct ValidatorTests {
    /// A reply to a request for a version that was last changed then; 304 for any date that is not earlier.
    private static func version(_ name: String, changed day: Int) -> @Sendable (OriginRequest) -> OriginReply {
        { request in
            let headers = [
                ("Last-Modified", HTTPDate.format(Self.day(day))), ("Cache-Control", "max-age=31536000, immutable"),
            ]
            if let since = request.headers["if-modified-since"].flatMap({ HTTPDate.parse($0, now: Self.day(31)) }),
                since >= Self.day(day)
            {
                return OriginReply(status: 304, headers: headers)
            }
            return OriginReply(headers: headers, body: IconDrawing(name).png())
        }
    }

    /// A server whose entity tag never changes, behind a cache that has an old image.
    private static func fixed(_ name: String, cached: String) -> @Sendable (OriginRequest) -> OriginReply {
        { request in
            let headers = [("ETag", "\"fixed\"")]
            guard request.headers["if-none-match"] == nil else { return OriginReply(status: 304, headers: headers) }
            let isPassedOn = request.headers["cache-control"] == "no-cache"
            return OriginReply(headers: headers, body: IconDrawing(isPassedOn ? name : cached).png())
        }
    }

    /// The redirect to a version, which is the present one for a second.
    private static func redirect(to path: String) -> OriginReply {
        OriginReply(status: 302, headers: [("Location", path), ("Cache-Control", "max-age=1")])
    }

    private static func day(_ day: Int) -> Timestamp { Timestamp(sinceEpoch: .seconds(86_400 * (20_454 + day))) }

    @Test("an icon that is stale, or whose redirect is, is requested with its validators, or from elsewhere")
    func revalidation() async throws {
        try await World.with { plain in
            let world = plain.setting("SYNCAGENT_REFRESH_MINIMUM", "1s")
            let conditional = Tally()
            world.origin.respond(to: TestOrigin.iconPath("Notes")) { request in
                let drawing = IconDrawing("Notes")
                let headers = [("ETag", drawing.entityTag), ("Cache-Control", "max-age=1")]
                guard request.headers["if-none-match"] == drawing.entityTag else {
                    return OriginReply(headers: headers, body: drawing.png())
                }
                conditional.add("Notes")
                return OriginReply(status: 304, headers: headers)
            }
            world.origin.respond(to: "/v1.png", with: Self.version("Mail", changed: 10))
            world.origin.respond(to: "/v2.png", with: Self.version("Maps", changed: 5))
            world.origin.respond(to: "/icon.png", with: Self.redirect(to: "/v1.png"))
            let icons = [("Notes", world.origin.iconURL("Notes")), ("Mail", world.origin.baseURL + "/icon.png")]
            try world.agent.drop(propertyList(icons), as: "apps.plist")
            let cache = IconCache(at: world.agent.cache)
            try await world.agent.whileRunning { _ in
                try await world.agent.status { $0.inSync && $0.icons.ready == 2 }
                let generation = try cache.manifest().generation
                // Both are asked with their own validators, and are the same.
                try await conditional.reach(1)
                try await world.origin.received(2, for: "/v1.png")
                try await world.agent.status { $0.inSync }
                #expect(try cache.manifest().generation == generation)
                #expect(try world.expectWholeCache() == 2)

                world.origin.respond(to: "/icon.png", with: Self.redirect(to: "/v2.png"))
                let image = Digest.of(IconDrawing("Maps").png())
                try await world.agent.status { report in
                    let state = (try? cache.document(of: "apps.plist"))?.apps.last?.state
                    guard report.inSync, case .ready(let ready) = state else { return false }
                    return ready.sha256 == image
                }
            }
        }
    }

    @Test("a full refresh brings the image that its server calls unchanged; one that fails takes no image away")
    func full() async throws {
        try await World.with { world in
            let path = "/fixed.png"
            let url = world.origin.baseURL + path
            world.origin.respond(to: path, with: Self.fixed("Mail", cached: "Mail"))
            try world.agent.drop(propertyList([("Mail", url)]), as: "apps.plist")
            let cache = IconCache(at: world.agent.cache)
            @Sendable func image() -> Digest? {
                guard case .ready(let image)? = (try? cache.document(of: "apps.plist"))?.apps.last?.state else {
                    return nil
                }
                return image.sha256
            }
            let (old, new) = (Digest.of(IconDrawing("Mail").png()), Digest.of(IconDrawing("Maps").png()))
            try await world.agent.whileRunning { _ in
                try await world.agent.status { $0.inSync && $0.icons.ready == 1 }
                world.origin.respond(to: path, with: Self.fixed("Maps", cached: "Mail"))
                #expect(try await world.agent.call("refresh", url).code == 0)
                try await world.origin.received(2, for: path)
                try await world.agent.status { $0.inSync && $0.downloads.active == 0 }
                #expect(image() == old)
                expectContains(try await world.agent.call("why", url).output, "syncagent refresh --full \(url)")

                let full = try await world.agent.call("refresh", "--full", "--app", "Mail")
                #expect(full.code == 0 && full.output == "1 icon is downloaded now.\n", "\(full)")
                try await world.agent.status { $0.inSync && image() == new }

                world.origin.respond(to: path, with: OriginReply(status: 503))
                #expect(try await world.agent.call("refresh", "--full", url).code == 0)
                try await world.agent.status { $0.icons.stale == 1 && $0.icons.ready == 1 }
                #expect(image() == new)
                let unknown = try await world.agent.call("refresh", "--app", "Mails")
                #expect(unknown.code == 1)
                expectContains(unknown.messages, "Did you mean Mail?")
            }
        }
    }

    @Test("a full refresh during another request of a cache's image is followed by one past the cache")
    func fullAfterPlain() async throws {
        try await World.with { world in
            let path = "/bare.png"
            let url = world.origin.baseURL + path
            @Sendable func bare(_ name: String) -> @Sendable (OriginRequest) -> OriginReply {
                { request in
                    let isPassedOn = request.headers["cache-control"] == "no-cache"
                    return OriginReply(
                        headers: [("Cache-Control", "max-age=3600")],
                        body: IconDrawing(isPassedOn ? name : "Mail").png())
                }
            }
            world.origin.respond(to: path, with: bare("Mail"))
            try world.agent.drop(propertyList([("Mail", url)]), as: "apps.plist")
            let cache = IconCache(at: world.agent.cache)
            let new = Digest.of(IconDrawing("Maps").png())
            try await world.agent.whileRunning { _ in
                try await world.agent.status { $0.inSync && $0.icons.ready == 1 }
                world.origin.respond(to: path, with: bare("Maps"))
                world.origin.hold(path)
                #expect(try await world.agent.call("refresh", url).code == 0)
                try await world.origin.received(2, for: path)
                let full = try await world.agent.call("refresh", "--full", url)
                #expect(full.code == 0 && full.output == "1 icon is downloaded now.\n", "\(full)")
                world.origin.release(path)
                try await world.agent.status {
                    guard case .ready(let image)? = (try? cache.document(of: "apps.plist"))?.apps.last?.state else {
                        return false
                    }
                    return $0.inSync && image.sha256 == new
                }
                #expect(world.origin.requestCount(for: path) == 3)
            }
        }
    }
}
