// SPDX-License-Identifier: Apache-2.0
import Glibc
import IconCache
import Reports
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

extension World {
    /// Saves a list in each of these ways, with an agent running.
    ///
    /// - Parameters:
    ///   - patterns: The ways; those whose programs are missing are passed over with a message.
    ///   - place: Where the lists folder is.
    ///   - path: The folder that has the lists folder in it, and a folder `side`.
    /// - Returns: How long it took from the end of each until it had taken effect, by name.
    /// - Throws: An error if a way fails, or does not take effect at all.
    func times(of patterns: [SavePattern], in place: Place, at path: FilePath) async throws -> [String: Duration] {
        let world = try heedingModes()
        return try await world.agent.whileRunning { _ in
            if place == .overlay {
                let report = try await world.agent.status { $0.watch.mode == "polling" }
                #expect(report.watch.reason == "overlayfs does not report changes made elsewhere")
            } else {
                let watch = try await world.agent.status { _ in true }.watch
                #expect(watch.isEstablished && (watch.mode == "inotify" || watch.reason != nil))
            }
            var times: [String: Duration] = [:]
            for (number, pattern) in patterns.enumerated() {
                guard pattern.tools.allSatisfy({ Tool.areInstalled($0) }) else {
                    print("Skipped: \(pattern.name): \(pattern.tools.joined(separator: ", ")) is not installed")
                    continue
                }
                times[pattern.name] = try await world.time(
                    of: pattern, from: "icon-\(100 + number)", to: "icon-\(200 + number)", in: path)
            }
            return times
        }
    }

    /// The same world with an agent that cannot open what its mode does not let it, also where root runs the tests.
    func heedingModes() throws -> World {
        guard geteuid() == 0, let program = Tool.path("setpriv") else { return self }
        return try after(in: "\(program) --bounding-set=-all --inh-caps=-all")
    }

    private func time(
        of pattern: SavePattern, from old: String, to new: String, in place: FilePath
    ) async throws -> Duration {
        try drop([old])
        try await published([old])
        let next = folder.appending("new.plist")
        try write(propertyList([(new, origin.iconURL(new))]), to: next)
        let environment = [
            "LIST": agent.lists.appending("apps.plist").string, "DIR": agent.lists.string,
            "SIDE": place.appending("side").string,
            "ELSEWHERE": try deviceNumber(of: place) == deviceNumber(of: folder) ? "/dev/shm" : folder.string,
            "NEW": next.string,
            "FROM": old, "TO": new,
        ]
        if let preparation = pattern.preparation {
            try await run(preparation, environment)
            #expect(try await agent.call("sync", "--wait").code == 0)
        }
        let before = try document("apps.plist")
        try await run(pattern.script, environment)
        let start = ContinuousClock.now
        try await agent.status { [cache = IconCache(at: agent.cache), url = IconURL(origin.iconURL(new))] report in
            guard report.inSync, let lists = try? cache.manifest().lists else { return false }
            let document = { (name: ListName) in lists[name].flatMap { _ in try? cache.document(of: name) } }
            return switch pattern.effect {
            case .changed: document("apps.plist")?.apps.filter(\.isReady).map(\.icon) == [url]
            case .removed: lists.isEmpty
            case .renamed: lists["apps.plist"] == nil && document("other.plist")?.apps == before?.apps
            }
        }
        let time = ContinuousClock.now - start
        if let end = pattern.end { try await run(end, environment) }
        if pattern.effect == .renamed { try remove("other.plist") }
        return time
    }

    /// The number of the device that a file is on.
    private func deviceNumber(of path: FilePath) throws -> UInt {
        var status = stat()
        try #require(stat(path.string, &status) == 0)
        return UInt(status.st_dev)
    }

    private func document(_ list: ListName) throws -> AppListDocument? {
        try IconCache(at: agent.cache).document(of: list)
    }

    private func run(_ script: String, _ environment: [String: String]) async throws {
        let result = try await Program.run("sh", "-ec", script, environment: environment)
        try #require(result.code == 0, "\(script): \(result.messages)")
    }
}
