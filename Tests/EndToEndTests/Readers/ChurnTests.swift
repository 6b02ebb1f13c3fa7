// SPDX-License-Identifier: Apache-2.0
import IconCache
import Reports
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

/// Readers in processes of their own beside an agent that publishes and removes at full speed, without any grace.
///
/// `CHURN_SECONDS` in the environment is how long.
@Suite(
    "Readers of a busy cache", .timeLimit(.minutes(15)), .serialized,
    .enabled(if: Tool.areInstalled("python3", "jq", "flock", "sha256sum"), "python3, jq, flock or sha256sum is missing")
)
struct ChurnTests {
    private static let seconds = environmentNumber("CHURN_SECONDS") ?? 4

    @Test("readers beside a busy agent miss nothing and see nothing torn; superseded files go after the last lease")
    func readers() async throws {
        try await Churn.run(grace: "0s") { churn in
            let before = try churn.cache.manifest().generation
            let stop = churn.world.folder.appending("stop")
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await Self.readByLibrary(churn, until: stop) }
                group.addTask { try await Self.readSlowly(churn, until: stop) }
                group.addTask { try await Self.readByURL(churn, until: stop) }
                group.addTask { try await Self.readByManifest(churn, until: stop) }
                group.addTask {
                    // How long they read is all that ends this.
                    try await Task.sleep(for: .seconds(Self.seconds))
                    try await Tool.run("touch", stop.string)
                }
                try await group.waitForAll()
            }
            print("\(try churn.cache.manifest().generation - before) generations in \(Self.seconds) s")
        } whenStill: { churn in
            let end = ContinuousClock.now
            // A generation that a reader held for long is asked for again after up to 30 s.
            try await waitUntil {
                try CacheCheck(churn.world.agent.cache).strays().isEmpty
            }
            print("nothing left over \(ContinuousClock.now - end) after the last lease")
            try await churn.world.agent.status { $0.icons.retired == 0 && $0.inSync }
            #expect(try churn.world.expectWholeCache() == 120)
        }
    }

    /// With the library, as fast as it can, in the process of the tests.
    private static func readByLibrary(_ churn: Churn, until stop: FilePath) async throws {
        var images = 0
        while (try? stop.stat()) == nil {
            images += try churn.read(churn.cache)
            await Task.yield()
        }
        print("by the library: \(images) images")
    }

    /// Under leases that last for a good part of the time.
    private static func readSlowly(_ churn: Churn, until stop: FilePath) async throws {
        let example = try Article("OtherLanguages").examples(in: "python")[1]
        let script = """
            \(example)
            import sys, time
            cache, stop, pause = sys.argv[1], sys.argv[2], float(sys.argv[3])
            leases = images = 0
            while not os.path.exists(stop):
                with open_manifest(cache) as file:
                    leases += 1
                    for entry in json.load(file)["lists"].values():
                        with open(os.path.join(cache, entry["document"]), "rb") as document:
                            ready = [app for app in json.load(document)["apps"] if app["status"] == "ready"]
                        for app in ready:
                            if not os.path.exists(stop):
                                time.sleep(pause)
                            with open(os.path.join(cache, app["path"]), "rb") as image:
                                if hashlib.sha256(image.read()).hexdigest() != app["sha256"]:
                                    sys.exit(app["path"] + " has other bytes")
                            images += 1
            print(images, "images under", leases, "leases")
            """
        let pause = Double(seconds) / 4 / 120
        let cache = churn.world.agent.cache.string
        let end = try await Program.run("python3", "-c", script, cache, stop.string, "\(pause)")
        #expect(end.code == 0, "\(end.messages)")
        print("slowly: \(end.output)", terminator: "")
    }

    /// A plain script, without a lease, for icons that are always there.
    private static func readByURL(_ churn: Churn, until stop: FilePath) async throws {
        let script = """
            while [ ! -e "$stop" ]; do
                for url in $urls; do
                    key=$(printf %s "$url" | sha256sum)
                    key=${key%% *}
                    digest=$(sha256sum < "$cache/by-url/$(printf %.2s "$key")/$key") || exit
                    echo "$url ${digest%% *}"
                done
            done > "$seen"
            """
        let seen = churn.world.folder.appending("seen")
        let names = Dictionary(uniqueKeysWithValues: Churn.lasting.map { (churn.world.origin.iconURL($0), $0) })
        let end = try await Program.run(
            "sh", "-c", script,
            environment: [
                "stop": stop.string, "cache": churn.world.agent.cache.string, "seen": seen.string,
                "urls": names.keys.joined(separator: " "),
            ])
        #expect(end.code == 0, "\(end.messages)")
        let lines = String(decoding: try FileBytes.read(seen), as: UTF8.self).split(separator: "\n")
        let wrong = Set(lines).filter { line in
            let words = line.split(separator: " ")
            guard words.count == 2, let name = names[String(words[0])], let digest = Digest(hex: words[1]) else {
                return true
            }
            return !churn.isImage(digest, of: name)
        }
        #expect(wrong.isEmpty)
        print("by-url: \(lines.count) images, \(Set(lines).count) different ones")
    }

    /// Everything that the manifest names, with jq.
    private static func readByManifest(_ churn: Churn, until stop: FilePath) async throws {
        let script = """
            cd "$cache" || exit
            images=0
            while [ ! -e "$stop" ]; do
                for attempt in 1 2 3 4 5 6 7 8 9; do
                    exec 9< manifest.json
                    flock --shared --nonblock 9
                    [ /dev/fd/9 -ef manifest.json ] && break
                done
                documents=$(jq -r '.lists[].document' <&9)
                ready='.apps[] | select(.status == "ready") | "\\(.sha256)  \\(.path)"'
                checked=$(jq -r "$ready" $documents | sha256sum --check) || exit
                images=$((images + $(printf '%s\\n' "$checked" | wc -l)))
                exec 9<&-
            done
            echo "$images images"
            """
        let end = try await Program.run(
            "sh", "-c", script, environment: ["stop": stop.string, "cache": churn.world.agent.cache.string])
        #expect(end.code == 0, "\(end.messages)")
        print("with jq: \(end.output)", terminator: "")
    }
}
