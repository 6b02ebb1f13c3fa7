// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// A cache between machines and the upstream's server, which does what the manifest's `Cache-Control` says.
///
/// It makes one request for what several machines want at once, and keeps immutable files for ever.
struct Edge {
    private enum File {
        case requested(Reply)
        case stored
        case missing(until: Timestamp)
    }

    private let maxAge, staleWhileRevalidate, staleIfError: Duration
    /// How long it keeps a 404.
    private static let missing: Duration = .seconds(10)
    /// How long an answer takes that it has.
    private static let latency: Duration = .milliseconds(10)

    private var manifest: (copy: Int, fetched: Timestamp)?
    private var manifestRequest: Reply?
    private var files: [Digest: File] = [:]

    init(_ scenario: Scenario) {
        maxAge = .seconds(60) / scenario.pace
        staleWhileRevalidate = .seconds(600) / scenario.pace
        staleIfError = .seconds(86_400) / scenario.pace
    }

    /// A machine asks for the manifest.
    mutating func manifest(bypassing: Bool, of server: inout Server, at now: Timestamp) -> Reply {
        if let reply = manifestRequest, reply.end <= now {
            manifestRequest = nil
            if reply.fault == nil { manifest = (reply.copy, reply.end) }
        }
        let wasRequested = manifestRequest != nil
        if let manifest, !bypassing {
            let age = now - manifest.fetched
            let hit = Reply(end: now + Self.latency, copy: manifest.copy)
            if age < maxAge { return hit }
            if !wasRequested { manifestRequest = server.manifest(at: now) }
            if age < maxAge + staleWhileRevalidate || wasRequested { return hit }
            if age < staleIfError, let reply = manifestRequest, reply.fault != nil {
                return Reply(end: reply.end + Self.latency, copy: manifest.copy)
            }
        } else if bypassing || !wasRequested {
            manifestRequest = server.manifest(at: now)
        }
        return passedOn(manifestRequest ?? Reply(end: now, fault: .badGateway))
    }

    /// A machine asks for a file that never changes.
    mutating func file(_ digest: Digest, of server: inout Server, at now: Timestamp) -> Reply {
        if case .requested(let reply)? = files[digest], reply.end <= now {
            switch reply.fault {
            case nil: files[digest] = .stored
            case .missing: files[digest] = .missing(until: reply.end + Self.missing)
            default: files[digest] = nil
            }
        }
        switch files[digest] {
        case .stored: return Reply(end: now + Self.latency)
        case .requested(let reply): return passedOn(reply)
        case .missing(let end) where end > now: return Reply(end: now + Self.latency, fault: .missing)
        case .missing, nil:
            let reply = server.file(digest, at: now)
            files[digest] = .requested(reply)
            return passedOn(reply)
        }
    }

    private func passedOn(_ reply: Reply) -> Reply {
        var reply = reply
        reply.end = reply.end + Self.latency
        switch reply.fault {
        case .connection: reply.fault = .badGateway
        case .silence: reply.fault = .gatewayTimeout
        default: break
        }
        return reply
    }
}
