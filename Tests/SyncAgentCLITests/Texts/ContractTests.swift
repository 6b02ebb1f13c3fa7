// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import FoundationEssentials
import Reports
import TestSupport
import Testing

@testable import SyncAgentCLI

/// The names that the article Stability promises, written out: other suites hold the articles against the program, and
/// would not notice a name that both lose.
///
/// Add the names of a release when it is made. Remove none within a major version.
@Suite("Names of the contract")
struct ContractTests {
    /// Each command with its own options; those that take a value end in `=`.
    private static let commands: [(String, String)] = [
        ("run", "--once --allow-network= --log-level= --allow-root"), ("status", "--json --watch --health --quiet"),
        ("path", "--app= --list= --size= --json"), ("list", "--failed --json"), ("why", "--json"),
        ("check", "--fetch --strict --all --json"), ("sync", "--wait --json"), ("pause", "--for= --reason= --json"),
        ("resume", "--reason= --json"), ("pin", "--wait --json"), ("unpin", "--json"), ("retry", "--failed --json"),
        ("mute", "--list= --for= --json"), ("unmute", "--list= --json"),
        ("refresh", "--json"), ("evict", "--dry-run --explain= --confirm --json"), ("purge", "--yes -y"),
        ("verify", "--repair --json"), ("events", "--follow --since= --limit= --json"), ("config", "--json"),
        ("config check", ""), ("config default", ""), ("dashboard", "--read-only --no-open"),
        ("export", "--rclone= --sign= --keep= --verify"), ("key generate", "--output="), ("demo", ""),
        ("reload", "--json"),
    ]

    /// What all take that work with an agent or its folders.
    private static let common = "--config= --lists= --cache= --state= --socket= --system --user --set= --color="

    /// What these commands do not take of it.
    private static let exceptions = [
        "demo": common, "config default": common, "key generate": common, "config check": "--set= --color=",
    ]

    private static func words(_ text: String) -> [String] { text.split { $0 == " " || $0 == "\n" }.map(String.init) }

    private static func text(of file: String) throws -> String {
        try String(contentsOfFile: "\(Article.project)/\(file)", encoding: .utf8)
    }

    @Test("commands keep their names and options, which take a value or none as ever", arguments: commands)
    func command(name: String, own: String) async throws {
        let program = try await CommandHelp.ofProgram().all
        let command = try #require(program.first { $0.name == name }?.command, "there is no command \(name)")
        let without = Set(Self.words(Self.exceptions[name] ?? ""))
        let expected = Self.words(own) + Self.words(Self.common).filter { !without.contains($0) }
        for option in expected + ["--help", "-h", "--version"] {
            let takesValue = option.hasSuffix("=")
            let typed = takesValue ? String(option.dropLast()) : option
            #expect(command.options[typed] == takesValue, "\(name) \(typed)")
        }
    }

    @Test("exit codes keep their numbers")
    func exitCodes() {
        let codes: [(Exit.Code, Int32)] = [
            (.done, 0), (.attention, 1), (.notRunning, 3), (.usage, 64), (.notAList, 65), (.noAgent, 69),
            (.folder, 73), (.busy, 75), (.badConfiguration, 78),
        ]
        for (code, number) in codes { #expect(code.rawValue == number) }
    }

    @Test("the JSON of status keeps every key of the contract and the words of its states")
    func status() {
        var report = StatusReport(state: .running)
        report.lists = [StatusReport.List(name: "apps.plist", state: .ok)]
        let keys = Set(Self.keys(in: report.json))
        let expected = Self.words(
            """
            format state pid version generation published inSync
            lists lists.name lists.state lists.apps lists.ready lists.pending lists.failed lists.error
            icons icons.referenced icons.ready icons.pending icons.failed icons.stale icons.retired
            downloads downloads.active downloads.queued downloads.waiting downloads.blocked downloads.reason
            cache cache.bytes cache.images eviction eviction.state eviction.reason
            watch watch.mode watch.reason watch.overflows watch.lastScan
            publication publication.error configuration configuration.error upstreams
            reachable storage listeners failures verdict verdict.level verdict.sentence verdict.command problems
            refreshFailures renditions
            """)
        for key in expected { #expect(keys.contains(key), "\(key)") }
        #expect(Set(StatusReport.State.allCases.map(\.rawValue)).isSuperset(of: ["running", "paused", "stopped"]))
        #expect(Set(StatusReport.List.State.allCases.map(\.rawValue)).isSuperset(of: ["ok", "last-good", "rejected"]))
        let evictions = Set(StatusReport.Eviction.State.allCases.map(\.rawValue))
        #expect(evictions.isSuperset(of: ["active", "suspended", "held"]))
    }

    /// The paths of all keys: `cache`, `cache.bytes`.
    private static func keys(in json: JSON, at path: String = "") -> [String] {
        switch json {
        case .object(let members):
            members.flatMap { [path + $0.key] + keys(in: $0.value, at: path + $0.key + ".") }
        case .array(let values): values.flatMap { keys(in: $0, at: path) }
        case .lines(let value): keys(in: value, at: path)
        default: []
        }
    }

    @Test("problems in status keep their codes")
    func problems() {
        let codes = Set(StatusProblem.Code.allCases.map(\.rawValue))
        let expected = Self.words(
            """
            agent-unknown agent-unreachable configuration-rejected conflict-copy disk-full entries-ignored eviction-held
            eviction-suspended events-not-written leases-unseen manifest-unreadable metrics-not-written not-listening
            not-rendered origin-waiting out-of-resources paused previous-image publication-failed
            settings-need-restart stale state-damaged state-not-stored upstream-broken upstream-failed
            upstream-icons-failed upstream-refused upstream-stale upstream-unlisted watch-polling
            """)
        #expect(codes.isSuperset(of: expected), "\(Set(expected).subtracting(codes))")
    }

    /// The article, the section whose table has the names, and the names.
    ///
    /// `CodesArticleTests`, `EventsArticleTests` and `MetricsTests` hold these tables against the program.
    private static let tables: [(String, String, String)] = [
        (
            "Codes", "Downloads",
            """
            http-NNN http-407 http-429 http-503 dns connect tls timeout connection-closed cut-short protocol content-encoding too-large not-an-image
            image-truncated image-damaged image-too-large image-unsafe digest-mismatch bad-redirect redirect-loop
            too-many-redirects downgrade-refused network-login bad-url scheme-refused userinfo-refused host-refused port-refused
            address-refused auth-refused not-in-repository over-limit disk disk-full out-of-resources
            """
        ),
        (
            "Codes", "Upstreams",
            """
            manifest-ahead manifest-conflict manifest-damaged manifest-incomplete manifest-rollback
            manifest-signature
            """
        ),
        ("Codes", "Renditions", "render-unsupported render-failed render-interrupted"),
        (
            "Codes", "App lists",
            """
            unreadable not-a-regular-file name-not-utf8 too-large still-being-written empty-file
            not-a-property-list too-deep too-many-values no-known-shape ambiguous-shape repeated-keys no-icon-base
            no-usable-entry too-many-entries too-much-text parser-died parser-killed parser-failed parser-timeout
            parser-nonsense parser-unavailable out-of-resources cancelled
            """
        ),
        (
            "Events", "Kinds",
            """
            agent-started agent-stopping list-accepted list-rejected list-kept list-removed icon-ready icon-changed
            icon-failed icon-stale icon-fresh icon-kept icon-retired icon-evicted icon-not-rendered
            generation-published publication-failed downloads-blocked downloads-unblocked rendering-blocked
            rendering-unblocked paused resumed pinned unpinned muted unmuted eviction-held eviction-suspended eviction-active
            cache-healed state-replaced configuration-reloaded configuration-rejected upstream-fresh upstream-stale
            upstream-broken upstream-refused upstream-undelivered purged purge-failed gap
            """
        ),
        (
            "Events", "Gaps",
            "rotated not-written too-many agent-killed machine-stopped damaged removed unknown-position"
        ),
        (
            "Metrics", "All metrics",
            """
            syncagent_download_duration_seconds syncagent_download_failures_total syncagent_download_queue
            syncagent_download_responses_total syncagent_downloads_total syncagent_origin_downloads_total
            syncagent_received_bytes_total syncagent_awaiting_upstream syncagent_upstream_generation
            syncagent_upstream_published_timestamp_seconds syncagent_upstream_received_bytes_total
            syncagent_upstream_requests_total syncagent_upstream_state syncagent_icons
            syncagent_last_scan_timestamp_seconds syncagent_list_reads_total syncagent_lists
            syncagent_oldest_stale_icon_age_seconds syncagent_parser_failures_total syncagent_previous_images
            syncagent_failed_icons syncagent_problem_lists syncagent_stale_icon_age_seconds
            syncagent_retired_icons syncagent_stale_icons syncagent_watch_overflows_total syncagent_watch_polling
            syncagent_watcher_failures_total syncagent_cache_bytes syncagent_cache_images syncagent_disk_free_bytes
            syncagent_disk_reserve_bytes syncagent_disk_size_bytes syncagent_evicted_generations_total
            syncagent_evicted_images_total syncagent_eviction_failures_total syncagent_eviction_state
            syncagent_flush_duration_seconds syncagent_flush_failures_total syncagent_generation
            syncagent_last_publication_timestamp_seconds syncagent_publication_duration_seconds
            syncagent_publication_failing syncagent_publication_pending syncagent_publications_total
            syncagent_rendered_images_total syncagent_rendering_duration_seconds syncagent_rendering_failing
            syncagent_renditions syncagent_shortage
            syncagent_build_info syncagent_collected_timestamp_seconds syncagent_configuration_ok
            syncagent_control_requests_total syncagent_in_sync syncagent_paused syncagent_up
            process_cpu_seconds_total process_max_fds process_open_fds process_resident_memory_bytes
            process_start_time_seconds process_virtual_memory_bytes
            """
        ),
    ]

    @Test("codes, events and metrics keep their names", arguments: tables)
    func table(article: String, section: String, names: String) throws {
        let rows = Set(try Article(article, of: "SyncAgent").firstColumn(ofTableIn: section))
        for name in Self.words(names) { #expect(rows.contains(name), "\(article), \(section): \(name)") }
    }

    /// The part of the API's description that has its routes; `OpenAPITests` holds it against the agent.
    private struct Description: Decodable {
        struct Operation: Decodable {}

        var paths: [String: [String: Operation]]
    }

    @Test(
        "the API keeps its routes",
        arguments: [
            (
                "get",
                """
                health status status/stream metrics settings openapi.json lists lists/{name} icons why pins mutes
                eviction events
                """
            ),
            (
                "post",
                """
                why sync sync/stream pause resume retry refresh pin unpin mute unmute eviction evict purge
                reload repair dashboard
                """
            ),
        ])
    func routes(method: String, names: String) throws {
        let json = Data(try Self.text(of: "Sources/DashboardPage/openapi.json").utf8)
        let paths = try JSONDecoder().decode(Description.self, from: json).paths
        for name in Self.words(names) { #expect(paths["/v1/\(name)"]?[method] != nil, "\(method) \(name)") }
    }

    @Test("the header, the linker, the package and the manual page of libiconcache name the same functions")
    func symbols() throws {
        let written = Self.words(
            """
            app_image_for_pixels apps_find apps_free apps_new apps_next apps_of_name apps_of_url apps_rewind folder
            free new open open_for_pixels path path_for_pixels path_or path_size snapshot_free snapshot_generation
            snapshot_is_leased snapshot_list snapshot_lists snapshot_new snapshot_open version watch_descriptor
            watch_free watch_new watch_next
            """
        ).map { "iconcache_\($0)" }
        let header = try Self.text(of: "Sources/LibIconCache/iconcache.h")
            .matches(of: /ICONCACHE_API [^;(\n]*?(iconcache_[a-z_]+)\(/).map { String($0.1) }
        let linker = try Self.text(of: "Sources/LibIconCache/libiconcache.symbols.map")
            .matches(of: /\s(iconcache_[a-z_]+);/).map { String($0.1) }
        let package = try Self.text(of: "Packaging/debian/libiconcache0.symbols")
        let inPackage = package.matches(of: /\s(iconcache_[a-z_]+)@LIBICONCACHE_0/).map { String($0.1) }
        let page = try Self.text(of: "Sources/LibIconCache/iconcache.3")
        let inManual = page.split(separator: ".Sh DESCRIPTION", maxSplits: 1)[0]
            .matches(of: /\.F[no] (iconcache_[a-z_]+)/).map { String($0.1) }
        #expect(package.hasPrefix("libiconcache.so.0 libiconcache0 "))
        #expect(Set(header).isSuperset(of: written), "\(Set(written).subtracting(header))")
        for names in [linker, inPackage, inManual] { #expect(Set(names) == Set(header)) }
    }

    @Test("the Python module keeps its names")
    func python() throws {
        let module = try Self.text(of: "Sources/PythonIconCache/iconcache/__init__.py")
        let names = module.split(separator: "__all__ = [").last?.matches(of: /"(\w+)"/).map { String($0.1) } ?? []
        let written = Self.words(
            """
            App AppList Change ChangeKind Damaged IconCache IconCacheError Image ListSummary NoCache Renditions
            Snapshot Status UnknownFormat Unreadable __version__
            """)
        #expect(Set(names).isSuperset(of: written), "\(Set(written).subtracting(names))")
    }

    @Test("packages, units and the Swift library keep their names")
    func names() throws {
        let control = "\n" + (try Self.text(of: "Packaging/debian/control"))
        let packages = [
            "syncagent", "syncagent-render", "syncagent-render-heif", "libiconcache0", "libiconcache-dev",
            "python3-iconcache", "syncagent-launcher", "syncagent-doc",
        ]
        for package in packages { #expect(control.contains("\nPackage: \(package)\n"), "\(package)") }
        let units = [
            "system/syncagent.service", "system/syncagent-export.service", "system/syncagent-export.path",
            "system/syncagent-export.timer", "user/syncagent.service",
        ]
        for unit in units { #expect(try Self.text(of: "Packaging/systemd/\(unit)").contains("[Unit]"), "\(unit)") }
        #expect(try Self.text(of: "Packaging/systemd/sysusers.conf").contains("\nu syncagent "))
        #expect(try Self.text(of: "Package.swift").contains(".library(name: \"IconCache\", targets: [\"IconCache\"])"))
    }
}
