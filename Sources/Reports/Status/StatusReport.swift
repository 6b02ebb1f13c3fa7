// SPDX-License-Identifier: Apache-2.0
import AgentSettings
package import CacheFormat
package import Fleet

/// What `syncagent status` tells, whether it comes from the running agent or from disk.
package struct StatusReport: Codable, Equatable, Sendable {
    package enum State: String, Codable, Sendable {
        case running, paused, stopped
        /// Nobody else may look whether an agent runs.
        case unknown
    }

    package struct List: Codable, Equatable, Sendable {
        package var name: ListName
        /// `ok`, `last-good` or `rejected`.
        package var state: String
        package var apps = 0
        package var ready = 0
        package var pending = 0
        package var failed = 0
        /// What is wrong with the file.
        package var error: String?
        /// The stable code of that.
        package var code: String?
        /// How many entries were passed over.
        package var problems = 0
        /// How many of the ready ones show the previous image of their app; an agent of an older version does not say.
        package var previous: Int?

        package init(name: ListName, state: String) {
            self.name = name
            self.state = state
        }
    }

    /// Icons that failed with the same code.
    package struct Failure: Codable, Equatable, Sendable {
        package var code: String
        /// How many there are.
        package var icons: Int
        /// One of them, without the secrets that may be in its URL.
        package var example: IconURL
        /// A list that names the example.
        package var list: ListName?
        /// What happened to the example.
        package var message: String

        package init(code: String, icons: Int, example: IconURL, list: ListName?, message: String) {
            (self.code, self.icons, self.example, self.list, self.message) = (code, icons, example, list, message)
        }
    }

    package struct Icons: Codable, Equatable, Sendable {
        package var referenced = 0
        package var ready = 0
        package var pending = 0
        package var failed = 0
        /// Ready, but its last refresh failed.
        package var stale = 0
        /// On disk, but named by no list.
        package var retired = 0
        /// Those without an image in whose place apps show their previous one; an agent of an older version does not say.
        package var previous: Int?
        /// Since when the first of these apps has had a new URL; `nil` if there are none.
        package var previousSince: String?
        /// One of these icons, without the secrets that may be in its URL.
        package var previousExample: IconURL?
        /// A list that names the example.
        package var previousList: ListName?
    }

    package struct Downloads: Codable, Equatable, Sendable {
        package var active = 0
        package var queued = 0
        /// Icons that are asked for later: they failed, or their origin did.
        package var waiting = 0
        /// Icons of which there is no image, and that are not asked for as long as their origin waits, there is no room
        /// for them, or all is paused.
        package var blocked = 0
        /// Why there is no room for some, or for any, or what else the agent lacks; what waits for it goes on by itself when there is.
        package var reason: String?
        /// The code of that: `disk-full` or `out-of-resources`.
        package var code: String?
        /// Icons that no upstream has: their origins are asked later, or never; an agent of an older version does not say.
        package var awaitingUpstream: Int?
        /// The pending ones of them that no list of an upstream names; `nil` if there are none.
        package var unlisted: Missing?
        /// The pending ones of them that failed for each upstream that names them; `nil` if there are none.
        package var failedUpstream: Missing?
        /// Origins that get no request for a while.
        package var origins: [Origin]?

        /// An origin that gets no request for a while.
        package struct Origin: Codable, Equatable, Sendable {
            package var name: String
            /// How many icons without an image wait for it.
            package var icons: Int
            /// Until when.
            package var until: String

            package init(name: String, icons: Int, until: String) {
                (self.name, self.icons, self.until) = (name, icons, until)
            }
        }

        /// Icons that are pending, and that no upstream will have soon.
        package struct Missing: Codable, Equatable, Sendable {
            /// How many there are.
            package var icons: Int
            /// One of them, without the secrets that may be in its URL.
            package var example: IconURL
            /// A list that names the example.
            package var list: ListName?
            /// Whether their origins are asked later.
            package var isTemporary: Bool

            package init(icons: Int, example: IconURL, list: ListName? = nil, isTemporary: Bool) {
                (self.icons, self.example, self.list, self.isTemporary) = (icons, example, list, isTemporary)
            }
        }
    }

    package struct Cache: Codable, Equatable, Sendable {
        package var bytes = 0
        package var images = 0
        /// When files of the cache were missing or damaged for the last time since the start, and what was put right.
        package var lastRepair: String?

        package init(bytes: Int = 0, images: Int = 0) {
            self.bytes = bytes
            self.images = images
        }
    }

    package struct Eviction: Codable, Equatable, Sendable {
        package var state = "active"
        /// Why nothing is removed at the moment.
        package var reason: String?
        /// Why leases of readers may be unseen, so that only the grace period protects what they read.
        package var leases: String?

        package static let active = Eviction()

        package static func suspended(_ reason: String) -> Eviction { Eviction(state: "suspended", reason: reason) }

        package static func held(_ reason: String) -> Eviction { Eviction(state: "held", reason: reason) }

        /// Only the agent knows, and it cannot be asked.
        package static let unknown = Eviction(state: "unknown")
    }

    package struct Watch: Codable, Equatable, Sendable {
        /// `inotify` or `polling`; `nil` if nothing watches.
        package var mode: String?
        /// Why it is not watched through inotify.
        package var reason: String?
        /// How often there were more changes than could be told apart.
        package var overflows = 0
        package var lastScan: String?
    }

    package struct Publication: Codable, Equatable, Sendable {
        /// Why the last one failed.
        package var error: String?
    }

    package struct Configuration: Codable, Equatable, Sendable {
        /// Why the last reload was rejected; the settings before it are in force.
        package var error: String?
        /// The settings that are configured otherwise since the last reload, and take a restart; an agent of an older
        /// version does not say.
        package var needRestart: [String]?
    }

    package struct Storage: Codable, Equatable, Sendable {
        /// Why what is to be remembered over a restart cannot be stored.
        package var error: String?

        /// The database that was damaged and set aside, until somebody has removed that file.
        package var damaged: String?

        /// Why events cannot be written.
        package var events: String?

        package init(error: String? = nil, damaged: String? = nil, events: String? = nil) {
            (self.error, self.damaged, self.events) = (error, damaged, events)
        }
    }

    /// An address where the agent answers over TCP, if the settings name one.
    package struct Listener: Codable, Equatable, Sendable {
        /// `dashboard` or `images`.
        package var name: String
        package var address: String
        /// Why nobody can be answered there.
        package var error: String?

        package init(name: String, address: String, error: String?) {
            (self.name, self.address, self.error) = (name, address, error)
        }
    }

    package typealias Upstream = UpstreamReport

    package var state: State
    package var pid: Int?
    /// Whether the agent itself tells this; what is told of one that runs and cannot be asked comes from disk.
    ///
    /// An agent of an older version does not say so.
    package var reachable: Bool?
    package var version = Version.current
    package var generation: Int?
    package var published: String?
    /// Whether the newest generation tells all that is known, and nothing is on its way.
    package var inSync = false
    package var lists: [List] = []
    package var icons = Icons()
    /// The icons that failed, by code, the most frequent first; an agent of an older version does not say.
    package var failures: [Failure]?
    /// The icons whose last refresh failed, by code, the most frequent first; an agent of an older version does not say.
    package var refreshFailures: [Failure]?
    package var downloads = Downloads()
    package var cache = Cache()
    package var eviction = Eviction.active
    package var watch = Watch()
    package var publication = Publication()
    package var configuration = Configuration()
    /// An agent of an older version does not tell it.
    package var storage: Storage? = Storage()
    /// An agent of an older version has none.
    package var listeners: [Listener]?
    /// An agent of an older version has none.
    package var upstreams: [Upstream]?

    package init(state: State) {
        self.state = state
        reachable = state != .stopped
    }

    /// Whether something is wrong that a person should look at: icons that failed or cannot be asked for, bad lists, a
    /// folder in doubt, an eviction that is held, a full disk, a configuration that was rejected, a damaged state.
    package var needsAttention: Bool {
        hasFailures || !["active", "unknown"].contains(eviction.state) || state == .unknown
            || configuration.error != nil || storage?.damaged != nil || storage?.events != nil
            || upstreams?.contains(where: \.needsAttention) == true || lacksUpstream
    }

    /// Whether icons wait although none of their upstreams works.
    var lacksUpstream: Bool {
        downloads.awaitingUpstream ?? 0 > 0
            && upstreams?.allSatisfy { $0.state != Upstream.State.fresh.rawValue && $0.error != nil } == true
    }

    /// Whether something was not done that the lists ask for: icons that failed or cannot be asked for, bad lists, a full
    /// disk.
    package var hasFailures: Bool {
        icons.failed > 0 || downloads.blocked > 0 || downloads.reason != nil || lists.contains { $0.state != "ok" }
            || publication.error != nil || storage?.error != nil || listeners?.contains { $0.error != nil } == true
    }
}

extension StatusReport.List {
    /// Takes in how many of the list's entries are in each state.
    package mutating func count(_ entries: IconCounts) {
        (apps, ready, pending, failed) = (entries.total, entries.ready, entries.pending, entries.failed)
    }
}

extension StatusReport.Icons {
    /// Takes in how many of the icons that lists name are in each state.
    package mutating func count(_ icons: IconCounts) {
        (referenced, ready, pending, failed) = (icons.total, icons.ready, icons.pending, icons.failed)
    }
}
