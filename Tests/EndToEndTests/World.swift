// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import IconCache
import Reports
import Subprocess
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

/// An origin, folders, and the built program.
struct World: Sendable {
    let origin: TestOrigin
    var agent: AgentProcess

    /// The folder that everything is in.
    var folder: FilePath { agent.folder }

    /// What the program would read of the environment of the tests.
    private static let foreignVariables = [
        "ALL_PROXY", "COLUMNS", "HTTPS_PROXY", "NO_COLOR", "NO_PROXY", "SSL_CERT_FILE", "all_proxy", "http_proxy",
        "https_proxy", "no_proxy",
    ]

    /// Makes a world, and takes it away at the end.
    @discardableResult
    static func with<R: Sendable>(_ body: @escaping @Sendable (World) async throws -> R) async throws -> R {
        try await withTemporaryFolder { folder in
            try await TestOrigin.run { origin in
                var agent = AgentProcess(program: BuiltProducts.path("syncagent"), folder: folder)
                for variable in foreignVariables {
                    agent.environment[.init(stringLiteral: variable)] = .some(nil)
                }
                try makeFolder(agent.lists)
                return try await body(World(origin: origin, agent: agent))
            }
        }
    }

    /// The same world, in which an agent has a setting.
    func setting(_ variable: String, _ value: String) -> World {
        var world = self
        world.agent.environment[.init(stringLiteral: variable)] = value
        return world
    }

    /// Drops a list of apps, each with the icon that is drawn from its name.
    func drop(_ names: some Sequence<String>, as list: String = "apps.plist") throws {
        try agent.drop(propertyList(names.map { ($0, origin.iconURL($0)) }), as: list)
    }

    /// Returns when the newest manifest names images for these icons, in this order, as the list's.
    func published(_ names: [String], as list: ListName = "apps.plist") async throws {
        let urls = names.map { IconURL(origin.iconURL($0)) }
        try await agent.status { [cache = IconCache(at: agent.cache)] report in
            report.inSync && (try? cache.document(of: list))?.apps.filter(\.isReady).map(\.icon) == urls
        }
    }

    func remove(_ list: String) throws {
        try #require(unlink(agent.lists.appending(list).string) == 0)
    }

    /// Reads everything that the manifest names, and holds it against the digests that it gives.
    ///
    /// - Returns: How many icons have an image; two may have the same one.
    @discardableResult
    func expectWholeCache() throws -> Int {
        let check = CacheCheck(agent.cache)
        #expect(check.damages.isEmpty)
        _ = try #require(check.generation)
        return check.images.count
    }
}

extension StatusReport.Watch {
    /// Whether what is done in the folder on this machine is told, also where its file system (overlayfs) has it polled.
    var isEstablished: Bool { reason.map { $0.contains("overlayfs") } ?? true }
}

extension AppListDocument.App {
    var isReady: Bool {
        if case .ready = state { true } else { false }
    }
}

/// The names in a folder, at any depth, without folders.
func files(in folder: FilePath) throws -> [String] {
    let entries = try #require(opendir(folder.string))
    defer { closedir(entries) }
    var names: [String] = []
    while let entry = readdir(entries) {
        let name = String(cString: entry_name(entry))
        guard name != ".", name != ".." else { continue }
        if Int(entry.pointee.d_type) == Int(DT_DIR) {
            names += try files(in: folder.appending(name)).map { "\(name)/\($0)" }
        } else {
            names.append(name)
        }
    }
    return names.sorted()
}
