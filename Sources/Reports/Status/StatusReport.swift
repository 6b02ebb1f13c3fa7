// SPDX-License-Identifier: Apache-2.0
import AgentSettings
package import CacheFormat
package import Fleet

/// The output of `syncagent status`, from the running agent or from disk.
package struct StatusReport: Codable, Equatable, Sendable {
    package enum State: String, CaseIterable, Codable, Sendable {
        case running, paused, stopped
        /// This user may not see whether an agent is running.
        case unknown
    }

    package struct List: Codable, Equatable, Sendable {
        package enum State: String, CaseIterable, Sendable {
            case ok
            /// The list's file is not accepted, and the last good version stays in force.
            case lastGood = "last-good"
            case rejected
        }

        package var name: ListName
        package var state: Word<State>
        package var apps = 0
        package var ready = 0
        package var pending = 0
        package var failed = 0
        package var error: String?
        /// The number of ignored entries, and of ignored values of others.
        package var problems = 0
        package var code: String?
        /// The number of ready entries that show the previous image of their app.
        package var previous = 0
        /// The apps whose entry is ignored and that keep their last icon; `nil` if there are none.
        package var kept: Kept?
        /// Whether failures of the list's file and icons do not count; `nil` if they do, or if that is unknown.
        package var muted: Bool?

        /// Apps that keep their last icon, because their entry became unusable.
        package struct Kept: Codable, Equatable, Sendable {
            /// The most names in ``examples``.
            package static let mostExamples = 3

            package var apps: Int
            /// The names of the first of these apps, or the URLs of their icons without secrets.
            package var examples: [String]

            package init(apps: Int, examples: [String]) {
                (self.apps, self.examples) = (apps, examples)
            }
        }

        package init(name: ListName, state: State) {
            self.name = name
            self.state = Word(state)
        }

        /// Whether the list's file is not accepted and the list is not muted.
        package var isProblem: Bool { state != .ok && muted != true }

        package mutating func count(_ entries: IconCounts) {
            (apps, ready, pending, failed) = (entries.total, entries.ready, entries.pending, entries.failed)
        }
    }

    /// Icons that failed with the same code.
    package struct Failure: Codable, Equatable, Sendable {
        package var code: String
        package var icons: Int
        /// The URL of one of these icons, without secrets.
        package var example: IconURL
        package var list: ListName?
        package var message: String
        /// The number of these icons that are muted; `nil` if none are.
        package var muted: Int?

        var unmuted: Int { icons - (muted ?? 0) }

        package init(code: String, icons: Int, example: IconURL, list: ListName?, message: String) {
            (self.code, self.icons, self.example, self.list, self.message) = (code, icons, example, list, message)
        }
    }

    package struct Icons: Codable, Equatable, Sendable {
        package var referenced = 0
        package var ready = 0
        package var pending = 0
        package var failed = 0
        /// Icons with an image whose last refresh failed.
        package var stale = 0
        /// Icons with an image that no list names.
        package var retired = 0
        /// Icons without an image for which apps show their previous one.
        package var previous = 0
        /// Since when the first of these apps has had a new URL; `nil` if there are none.
        package var previousSince: String?
        /// The URL of one of these icons, without secrets.
        package var previousExample: IconURL?
        package var previousList: ListName?

        package mutating func count(_ icons: IconCounts) {
            (referenced, ready, pending, failed) = (icons.total, icons.ready, icons.pending, icons.failed)
        }
    }

    package struct Downloads: Codable, Equatable, Sendable {
        package var active = 0
        package var queued = 0
        /// Icons that are retried later, because they or their origins failed.
        package var waiting = 0
        /// Icons without an image that wait for their origin, for room, or for the end of a pause.
        package var blocked = 0
        /// What some or all icons wait for: space, resources, or a publication that works; they continue once it ends.
        package var reason: String?
        /// The code for ``reason``: `disk-full`, `out-of-resources` or `publication-failed`.
        package var code: String?
        /// Origins that get no requests for a while.
        package var origins: [Origin] = []
        /// Icons without an image that no upstream has, and whose origins are asked later or, depending on the settings, never.
        package var awaitingUpstream = 0
        /// The pending icons that no upstream's list names; `nil` if there are none.
        package var unlisted: Missing?
        /// The pending icons that failed at every upstream that names them; `nil` if there are none.
        package var failedUpstream: Missing?
        /// Why new downloads are paused.
        package var pauses: [Pause] = []

        package struct Pause: Codable, Equatable, Sendable {
            /// The reason that the user gave; `nil` if there is none.
            package var reason: String?
            /// When the pause ends; `nil` if only a command ends it.
            package var until: String?

            package init(reason: String?, until: String?) {
                (self.reason, self.until) = (reason, until)
            }
        }

        /// An origin that gets no requests for a while.
        package struct Origin: Codable, Equatable, Sendable {
            package var name: String
            package var icons: Int
            package var until: String

            package init(name: String, icons: Int, until: String) {
                (self.name, self.icons, self.until) = (name, icons, until)
            }
        }

        /// Pending icons that no upstream is expected to have soon.
        package struct Missing: Codable, Equatable, Sendable {
            package var icons: Int
            /// The URL of one of these icons, without secrets.
            package var example: IconURL
            package var list: ListName?
            /// Whether their origins are asked later; otherwise they only wait for an upstream.
            package var isTemporary: Bool

            package init(icons: Int, example: IconURL, list: ListName? = nil, isTemporary: Bool) {
                (self.icons, self.example, self.list, self.isTemporary) = (icons, example, list, isTemporary)
            }
        }
    }

    /// The images' renditions in the sizes of `render.sizes`.
    package struct Renditions: Codable, Equatable, Sendable {
        /// Images that have a rendition in each size.
        package var ready = 0
        package var pending = 0
        /// Images that cannot be rendered.
        package var failed = 0
        /// The reason why nothing is rendered, as a clause.
        package var error: String?

        package init() {}
    }

    package struct Cache: Codable, Equatable, Sendable {
        package var bytes = 0
        package var images = 0
        /// When missing or damaged files were last repaired since the start, with a summary of them.
        package var lastRepair: String?

        package init(bytes: Int = 0, images: Int = 0) {
            (self.bytes, self.images) = (bytes, images)
        }
    }

    package struct Eviction: Codable, Equatable, Sendable {
        package enum State: String, CaseIterable, Sendable {
            case active, suspended, held
            /// Only a running agent knows it, and none can be reached.
            case unknown
        }

        package var state = Word(State.active)
        /// Why nothing is evicted at the moment; `nil` if eviction is active.
        package var reason: String?
        /// Why readers' leases may be invisible, so that only the grace period protects what they read.
        package var leases: String?

        package static let active = Eviction()

        package static func suspended(_ reason: String) -> Eviction {
            Eviction(state: Word(.suspended), reason: reason)
        }

        package static func held(_ reason: String) -> Eviction { Eviction(state: Word(.held), reason: reason) }

        package static let unknown = Eviction(state: Word(.unknown))
    }

    package struct Watch: Codable, Equatable, Sendable {
        package enum Mode: String, CaseIterable, Sendable {
            case inotify, polling
        }

        /// How changes in the lists folder are noticed; `nil` if nothing watches it.
        package var mode: Word<Mode>?
        package var reason: String?
        /// How often the inotify event queue overflowed.
        package var overflows = 0
        package var lastScan: String?
    }

    package struct Publication: Codable, Equatable, Sendable {
        package var error: String?
    }

    package struct Configuration: Codable, Equatable, Sendable {
        /// The reason why the last reload was rejected; the previous settings stay in force.
        package var error: String?
        /// The settings whose new values need a restart.
        package var needRestart: [String] = []
    }

    package struct Storage: Codable, Equatable, Sendable {
        package var error: String?

        /// The path of the damaged database that was set aside, until somebody removes it.
        package var damaged: String?

        package var events: String?

        package init(error: String? = nil, damaged: String? = nil, events: String? = nil) {
            (self.error, self.damaged, self.events) = (error, damaged, events)
        }
    }

    /// A TCP address that the agent listens on.
    package struct Listener: Codable, Equatable, Sendable {
        /// The server's name, such as `dashboard`; `textfile` if ``address`` is the path of the metrics file.
        package var name: String
        package var address: String
        package var error: String?

        package init(name: String, address: String, error: String?) {
            (self.name, self.address, self.error) = (name, address, error)
        }
    }

    package typealias Upstream = UpstreamReport

    package var state: State
    package var pid: Int?
    /// Whether a running agent made the report; otherwise it was read from disk.
    package var reachable: Bool
    package var version = Version.current
    package var generation: Int?
    package var published: String?
    /// Whether the newest generation is up to date, and no work is queued or in progress.
    package var inSync = false
    package var lists: [List] = []
    package var icons = Icons()
    package var downloads = Downloads()
    package var cache = Cache()
    package var eviction = Eviction.active
    package var watch = Watch()
    package var publication = Publication()
    package var storage = Storage()
    package var configuration = Configuration()
    package var listeners: [Listener] = []
    /// The failed icons by code, the most frequent first.
    package var failures: [Failure] = []
    /// The icons whose last refresh failed, by code, the most frequent first.
    package var refreshFailures: [Failure] = []
    package var upstreams: [Upstream] = []
    /// The state of renditions; `nil` if no sizes are configured.
    package var renditions: Renditions?
    /// The number of muted URLs and lists, whether they fail or not; `nil` from an agent of an older version, or if its
    /// state cannot be read.
    package var muted: Int?

    package init(state: State) {
        self.state = state
        reachable = state != .stopped
    }

    /// Whether a user should look at the agent: ``hasFailures``, a held eviction, a rejected configuration or a damaged
    /// state.
    package var needsAttention: Bool {
        hasFailures || ![.active, .unknown].contains(eviction.state.known) || state == .unknown
            || configuration.error != nil || storage.damaged != nil || storage.events != nil
            || upstreams.contains(where: \.needsAttention) || lacksUpstream
    }

    /// Whether icons wait although none of their upstreams works, or delivers all images that it lists.
    var lacksUpstream: Bool {
        downloads.awaitingUpstream > 0
            && upstreams.allSatisfy { $0.error != nil && ($0.state != .fresh || $0.undelivered != nil) }
    }

    /// Whether an upstream may have the renditions, so that a renderer is not needed.
    var mayTakeRenditions: Bool { !upstreams.isEmpty }

    var unmutedFailures: Int { icons.failed - Self.muted(in: failures) }

    package var unmutedStale: Int { icons.stale - Self.muted(in: refreshFailures) }

    static func muted(in rows: [Failure]) -> Int { rows.reduce(0) { $0 + ($1.muted ?? 0) } }

    /// Whether work that the lists ask for was not done: failed or blocked icons, rejected lists, a full disk.
    ///
    /// Muted icons and lists do not count.
    package var hasFailures: Bool {
        unmutedFailures > 0 || downloads.blocked > 0 || downloads.reason != nil || lists.contains(where: \.isProblem)
            || renditions?.error != nil && !mayTakeRenditions || publication.error != nil || storage.error != nil
            || listeners.contains { $0.error != nil }
    }
}
