// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("ExistentialAny"),
    .treatAllWarnings(as: .error),
]

/// A download crosses to no other thread for what is there already.
let stayingOnThread = settings + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]

/// The same, small rather than fast: what waits for the disk, the network or a person.
let smallOnThread = stayingOnThread + [.unsafeFlags(["-Osize"], .when(configuration: .release))]

/// Small rather than fast: commands that people type, and what is read at their start.
let small = settings + [.unsafeFlags(["-Osize"], .when(configuration: .release))]

/// Tests: a backtrace names functions and lines, and a debugger knows no variables.
///
/// That is a tenth of the time which the tests take to compile.
let testSettings = settings + [.unsafeFlags(["-Xfrontend", "-gline-tables-only"])]

/// Whether tasks run on threads of the agent's own, by declarations of Swift 6.3 that are experimental.
///
/// Without them, they run on those of the standard executor. The decision “Threads for tasks, behind a switch” has the
/// cost.
let hasTaskThreads = Context.environment["SYNCAGENT_STANDARD_EXECUTOR"] == nil
let taskThreads: [SwiftSetting] = hasTaskThreads ? [.define("TASK_THREADS")] : []

/// How the programs of a release are linked.
///
/// Only programs have these flags: a library that had some of their kind could not be used by other packages.
///
/// - The options of the static standard library have programs export the symbols of all packages, so that the linker may
///   drop none: they export none.
/// - All addresses are resolved at the start, and are read-only from then on.
/// - What is merely moved takes a bit, not 24 bytes. That needs glibc 2.36, and GNU ld, which is not what swift chooses.
let program: [LinkerSetting] = [
    .unsafeFlags(
        [
            "-use-ld=bfd", "-Xclang-linker", "-Wl,--no-export-dynamic,-z,relro,-z,now,-z,pack-relative-relocs",
            "-Xlinker", "-T", "-Xlinker", Context.packageDirectory + "/Packaging/program.ld",
        ],
        .when(platforms: [.linux], configuration: .release))
]

/// Has a program need no shared library.
///
/// It starts in a third of the time: the parser starts once for each list that changes. Its addresses are random all the
/// same if `Packaging/release` builds it: SwiftPM gives programs a RUNPATH otherwise, and such a program may have none.
///
/// The two libraries are parts of FoundationEssentials, which names them only to what is built for the static library.
let needingNoLibrary: [LinkerSetting] = [
    .unsafeFlags(
        ["-static-executable"]
            + (Context.environment["SYNCAGENT_RELEASE"] == nil ? [] : ["-Xclang-linker", "-static-pie"]),
        .when(platforms: [.linux], configuration: .release)),
    .linkedLibrary("_FoundationCollections", .when(platforms: [.linux], configuration: .release)),
    .linkedLibrary("_FoundationCShims", .when(platforms: [.linux], configuration: .release)),
]

let system = Target.Dependency.product(name: "SystemPackage", package: "swift-system")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let subprocess = Target.Dependency.product(name: "Subprocess", package: "swift-subprocess")
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let heap = Target.Dependency.product(name: "HeapModule", package: "swift-collections")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
let nioHPACK = Target.Dependency.product(name: "NIOHPACK", package: "swift-nio-http2")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioHTTPTypes = Target.Dependency.product(name: "NIOHTTPTypes", package: "swift-nio-extras")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let hummingbirdCore = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")

let package = Package(
    name: "syncagent",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "IconCache", targets: ["IconCache"]),
        .executable(name: "syncagent", targets: ["SyncAgentCLI"]),
        .executable(name: "syncagent-watch", targets: ["ListWatch"]),
        .executable(name: "syncagent-parse", targets: ["ListParseCLI"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-collections.git", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras.git", from: "1.35.0"),
        .package(url: "https://github.com/apple/swift-nio-http2.git", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-system.git", from: "1.8.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.0", traits: []),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess.git", from: "1.0.0"),
    ],
    targets: [
        // The documents of the cache, and what they are made of: values, and no file.
        .target(name: "CacheFormat", dependencies: ["CCrypto"], swiftSettings: settings),

        // What readers import: the contract in code.
        .target(name: "IconCache", dependencies: ["CLinux", "CacheFormat", system], swiftSettings: settings),

        // What others wrote, as checked values: lists, URLs and addresses; images.
        .target(name: "AppLists", dependencies: ["CacheFormat"], swiftSettings: settings),
        .target(name: "ImageChecks", dependencies: ["CDeflate"], swiftSettings: settings),

        // What HTTP says, as values: freshness, heads, redirects, failures, and which addresses may be asked.
        .target(name: "HTTPRules", dependencies: ["AppLists", "CacheFormat", "ImageChecks"], swiftSettings: settings),

        // Caches that agents take from and give to others: upstreams, exports, signatures; values, and no file.
        .target(
            name: "Fleet", dependencies: ["AppLists", "CCrypto", "CacheFormat", "HTTPRules", "ImageChecks"],
            swiftSettings: settings),

        // The settings, and the file that they are read from.
        .target(
            name: "AgentSettings",
            dependencies: [
                "AppLists", "CacheFormat", "Fleet", "HTTPRules", "ImageChecks",
            ],
            swiftSettings: small
        ),

        // The articles on codes, as text: the compiler embeds them.
        .target(name: "Articles"),

        // What the agent says of itself: status, problems, icons, events, and their words.
        .target(
            name: "Reports",
            dependencies: ["AgentSettings", "AppLists", "Articles", "CacheFormat", "Fleet", "HTTPRules"],
            swiftSettings: small),

        // Decisions: values in, values out.
        .target(
            name: "SyncPlan",
            dependencies: ["AgentSettings", "AppLists", "CacheFormat", "Fleet", "HTTPRules", "Reports", deque, heap],
            swiftSettings: settings
        ),

        // Effects: one folder per outside thing.
        .target(
            name: "SyncAgent",
            dependencies: [
                "AgentSettings", "AppLists", "CCrypto", "CLinux", "CSQLite", "CacheFormat", "Fleet", "HTTPRules",
                "IconCache", "ImageChecks", "Reports", "SyncPlan", "Transfers", system, logging, deque, heap,
            ],
            exclude: hasTaskThreads ? [] : ["Files/TaskThreads.swift"],
            swiftSettings: smallOnThread + taskThreads
        ),

        // The files of the dashboard and the description of the API, as bytes: the compiler embeds them.
        .target(
            name: "DashboardPage",
            exclude: [
                "agent.js", "dashboard.css", "dashboard.html", "dashboard.js", "details.js", "dialogs.js", "events.js",
                "favicon.svg", "filters.js", "images.js", "lists.js", "openapi.json", "problems.js", "text.js",
                "wall.js",
            ]),

        // The agent's servers: the control socket, and what listens on loopback.
        .target(
            name: "AgentServer",
            dependencies: [
                "AgentSettings", "AppLists", "CacheFormat", "DashboardPage", "ImageChecks", "LocalHTTP", "Reports",
                "SyncAgent", "SyncPlan", system, logging, hummingbird, hummingbirdCore, nioCore, nioHTTP1, nioHTTPTypes,
                nioPosix,
            ],
            swiftSettings: smallOnThread
        ),
        .executableTarget(
            name: "SyncAgentCLI",
            dependencies: [
                "AgentServer", "AgentSettings", "AppLists", "CLinux", "CacheFormat", "DemoOrigin", "Fleet", "HTTPRules",
                "IconCache", "ImageChecks", "Reports", "SyncAgent", "SyncPlan", logging, subprocess, system,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: small, linkerSettings: program
        ),

        // How the servers of the agent and of the demo end, and how they are asked.
        .target(
            name: "LocalHTTP", dependencies: [lifecycle, logging, nioCore, nioHTTP1, nioPosix],
            swiftSettings: stayingOnThread),

        // An origin on loopback, for the demo.
        .target(
            name: "DemoOrigin",
            dependencies: ["AppLists", "ImageChecks", "LocalHTTP", hummingbird, logging, nioCore],
            swiftSettings: small
        ),

        // The HTTP client.
        .target(
            name: "Transfers",
            dependencies: ["AppLists", "CCurl", "HTTPRules", system],
            swiftSettings: settings),
        .systemLibrary(
            name: "CCurl", path: "Sources/Bindings/CCurl", providers: [.apt(["libcurl4-openssl-dev", "libssl-dev"])]),

        // SHA-256, Ed25519, and certificates.
        .systemLibrary(name: "CCrypto", path: "Sources/Bindings/CCrypto", providers: [.apt(["libssl-dev"])]),

        // CRC-32.
        .systemLibrary(name: "CDeflate", path: "Sources/Bindings/CDeflate", providers: [.apt(["libdeflate-dev"])]),

        // What is remembered over a restart.
        .systemLibrary(name: "CSQLite", path: "Sources/Bindings/CSQLite", providers: [.apt(["libsqlite3-dev"])]),

        // Calls of Linux that the Glibc module leaves out.
        .systemLibrary(name: "CLinux", path: "Sources/Bindings/CLinux"),

        // The helper programs: what they touch can die, so each is a process of its own.
        .systemLibrary(
            name: "CInotifyTools", path: "Sources/Bindings/CInotifyTools", providers: [.apt(["libinotifytools0-dev"])]),
        .executableTarget(
            name: "ListWatch", dependencies: ["CInotifyTools"], swiftSettings: settings,
            linkerSettings: program),
        .target(
            name: "ListParse", dependencies: ["AppLists", "CLinux", "CacheFormat"],
            swiftSettings: settings),
        .executableTarget(
            name: "ListParseCLI", dependencies: ["AppLists", "CacheFormat", "ListParse"], swiftSettings: settings,
            linkerSettings: program + needingNoLibrary),

        .target(
            name: "TestSupport",
            dependencies: [
                "AgentSettings", "CTLS", "CacheFormat", "DemoOrigin", "LocalHTTP", "SyncPlan", hummingbird, lifecycle,
                logging, nioCore, nioHPACK, nioPosix, subprocess, system,
            ],
            path: "Tests/TestSupport", swiftSettings: testSettings
        ),
        // TLS for the origin of the tests: swift-nio-ssl would compile a quarter of the time.
        .systemLibrary(name: "CTLS", path: "Tests/Bindings/CTLS", providers: [.apt(["libssl-dev"])]),
        // The adapter of the Swift reader for `Tests/Conformance/run`.
        .executableTarget(
            name: "SwiftReader", dependencies: ["CacheFormat", "IconCache", system],
            path: "Tests/Conformance/adapters/swift", swiftSettings: settings, linkerSettings: program),
        .testTarget(
            name: "CacheFormatTests", dependencies: ["CacheFormat", "TestSupport"], swiftSettings: testSettings),
        .testTarget(
            name: "IconCacheTests", dependencies: ["CacheFormat", "IconCache", "TestSupport", system],
            swiftSettings: testSettings),
        .testTarget(
            name: "AppListsTests", dependencies: ["AppLists", "CacheFormat", "TestSupport"], swiftSettings: testSettings
        ),
        .testTarget(
            name: "ImageChecksTests", dependencies: ["ImageChecks", "TestSupport"], swiftSettings: testSettings),
        .testTarget(
            name: "HTTPRulesTests",
            dependencies: ["AgentSettings", "AppLists", "CacheFormat", "FuzzTargets", "HTTPRules", "ImageChecks"],
            swiftSettings: testSettings),
        .testTarget(
            name: "FleetTests", dependencies: ["CacheFormat", "Fleet", "TestSupport", system],
            swiftSettings: testSettings),
        .testTarget(
            name: "ReportsTests",
            dependencies: ["AppLists", "CacheFormat", "Reports"],
            swiftSettings: testSettings),
        .testTarget(
            name: "SyncPlanTests",
            dependencies: [
                "AgentSettings", "AppLists", "CacheFormat", "Fleet", "FuzzTargets", "HTTPRules", "ImageChecks",
                "Reports",
                "SyncPlan",
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "AgentSettingsTests",
            dependencies: ["AgentSettings", "CacheFormat", "HTTPRules", "SyncPlan", "TestSupport", system],
            swiftSettings: testSettings),
        .testTarget(
            name: "SyncAgentTests",
            dependencies: [
                "AgentSettings", "AppLists", "CLinux", "CacheFormat", "DemoOrigin", "Fleet", "HTTPRules", "IconCache",
                "ImageChecks", "Reports", "SyncAgent", "SyncPlan", "TestSupport", "Transfers", logging,
                nioCore, nioHTTP1, system,
            ],
            swiftSettings: testSettings + taskThreads
        ),
        .testTarget(
            name: "AgentServerTests",
            dependencies: [
                "AgentServer", "AgentSettings", "CacheFormat", "Fleet", "LocalHTTP", "Reports", "SyncAgent", "SyncPlan",
                "TestSupport", hummingbird, nioCore, nioEmbedded, nioHTTP1, system,
            ],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "ListWatchTests", dependencies: ["ListWatch", "TestSupport", subprocess, system],
            swiftSettings: testSettings),
        .testTarget(
            name: "ListParseTests",
            dependencies: ["AppLists", "CacheFormat", "ListParse", "ListParseCLI", "TestSupport", subprocess, system],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "DemoOriginTests", dependencies: ["DemoOrigin", "LocalHTTP", "TestSupport", nioCore, nioHTTP1],
            swiftSettings: testSettings
        ),
        // What holds for any bytes, and the suite that tries it on the kept ones. `Tests/Fuzz/run` looks for others.
        .target(
            name: "FuzzTargets",
            dependencies: [
                "AgentSettings", "AppLists", "CacheFormat", "Fleet", "HTTPRules", "IconCache", "ImageChecks",
                "ListParse", "SyncPlan",
            ],
            path: "Tests/Fuzz/Targets", swiftSettings: settings
        ),
        .testTarget(
            name: "FuzzTests",
            dependencies: [
                "AgentSettings", "CacheFormat", "FuzzTargets", "HTTPRules", "Reports", "SyncAgent", "SyncPlan",
                "TestSupport", system,
            ],
            path: "Tests/Fuzz/Replay", swiftSettings: testSettings
        ),
        .testTarget(
            name: "SyncAgentCLITests",
            dependencies: [
                "AgentSettings", "AppLists", "CacheFormat", "HTTPRules", "ImageChecks", "Reports", "SyncAgent",
                "SyncAgentCLI", "SyncPlan", "TestSupport", logging, system,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "AgentSettings", "AppLists", "CLinux", "CacheFormat", "DemoOrigin", "Fleet", "FuzzTargets", "HTTPRules",
                "IconCache", "ListParseCLI", "ListWatch", "LocalHTTP", "Reports", "SyncAgent", "SyncAgentCLI",
                "SyncPlan", "TestSupport", nioHTTP1, subprocess, system,
            ],
            exclude: ["rules.tsv"],
            swiftSettings: testSettings
        ),
    ]
)

// The fuzzer needs a runtime that ordinary builds do not have: `Tests/Fuzz/run` asks for it.
if Context.environment["SYNCAGENT_FUZZ"] != nil {
    package.targets.append(
        .executableTarget(
            name: "Fuzzer", dependencies: ["FuzzTargets"], path: "Tests/Fuzz/Driver", swiftSettings: settings,
            // gold ends with an internal error.
            linkerSettings: [.unsafeFlags(["-use-ld=lld"])]))
}

// With the programs of a release: what `Tests/Benchmarks/count` counts instructions of, and the fleet in virtual time that
// `Tests/Simulation/run` runs.
if Context.environment["SYNCAGENT_RELEASE"] != nil {
    package.targets += [
        .executableTarget(
            name: "Costs",
            dependencies: [
                "AgentSettings", "AppLists", "CacheFormat", "Fleet", "HTTPRules", "IconCache", "ImageChecks",
                "ListParse", "Reports", "SyncPlan", system,
            ],
            path: "Tests/Benchmarks/Costs", swiftSettings: settings, linkerSettings: program),
        .executableTarget(
            name: "Simulation",
            dependencies: [
                "AgentSettings", "AppLists", "CacheFormat", "Fleet", "HTTPRules", "Reports", "SyncPlan", heap,
            ],
            path: "Tests/Simulation/Fleet", swiftSettings: settings, linkerSettings: program),
    ]
}
