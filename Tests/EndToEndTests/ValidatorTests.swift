// SPDX-License-Identifier: Apache-2.0
import DemoOrigin
import FuzzTargets
import HTTPRules
import IconCache
import Reports
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Validators and redirects", .serialized)
struct ValidatorTests {
    /// A reply to a request for a version that was last changed then; 304 for any date that is not earlier.
    private static func version(_ name: String, changed day: Int) -> @Sendable (OriginRequest) -> OriginReply {
        { request in
            let headers = [
                ("Last-Modified", HTTPDate.format(Self.day(day))), ("Cache-Control", "max-age=1"),
            ]
            if let since = request.headers["if-modified-since"].flatMap({ HTTPDate.parse($0, now: Self.day(31)) }),
                since >= Self.day(day)
            {
                return OriginReply(status: 304, headers: headers)
            }
            return OriginReply(headers: headers, body: IconDrawing(name).png())
        }
    }

    private static func day(_ day: Int) -> Timestamp { Timestamp(sinceEpoch: .seconds(86_400 * (20_454 + day))) }

    @Test("where a redirect changes its target, what the new one has is fetched, whatever its date")
    func redirects() async throws {
        try await World.with { plain in
            let world = plain.setting("SYNCAGENT_REFRESH_MINIMUM", "1s")
            let base = world.origin.baseURL
            world.origin.respond(to: "/v1.png", with: Self.version("Mail", changed: 10))
            world.origin.respond(to: "/v2.png", with: Self.version("Maps", changed: 5))
            world.origin.respond(
                to: "/icon.png", with: OriginReply(status: 302, headers: [("Location", "/v1.png")]))
            let url = base + "/icon.png"
            try world.agent.drop(propertyList([("Mail", url)]), as: "apps.plist")
            let cache = IconCache(at: world.agent.cache)
            try await world.agent.whileRunning { _ in
                try await world.agent.status { $0.inSync && $0.icons.ready == 1 }
                // The same target is asked with its own validators.
                try await world.origin.received(2, for: "/v1.png")
                world.origin.respond(
                    to: "/icon.png", with: OriginReply(status: 302, headers: [("Location", "/v2.png")]))
                let image = Digest.of(IconDrawing("Maps").png())
                try await world.agent.status { report in
                    let state = (try? cache.document(of: "apps.plist"))?.apps.first?.state
                    guard report.inSync, case .ready(let ready) = state else { return false }
                    return ready.sha256 == image
                }
            }
        }
    }
}
