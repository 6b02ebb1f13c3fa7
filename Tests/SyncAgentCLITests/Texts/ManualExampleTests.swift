// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import SystemPackage
import TestSupport
import Testing

@Suite("Examples of the manual pages", .timeLimit(.minutes(10)))
struct ManualExampleTests {
    /// Runs `syncagent check` on a list, without any configuration.
    private static func check(_ list: FilePath, in folder: FilePath, _ options: String...) async throws -> Program {
        let folders = ["lists", "cache", "state", "socket"].flatMap { ["--\($0)", folder.appending($0).string] }
        return try await Program.run(
            [BuiltProducts.path("syncagent").string, "check"] + folders + [list.string] + options,
            environment: ["XDG_CONFIG_HOME": folder.string])
    }

    @Test("syncagent check accepts each list in syncagent-lists(5)")
    func lists() async throws {
        let examples = try ManualPage("syncagent-lists.5").section("FORMATS").displays
        // The formats, and an empty list at the end.
        #expect(examples.count == 7)
        try await withTemporaryFolder { folder in
            for (index, example) in examples.enumerated() {
                let file = folder.appending("\(index).plist")
                try write(example, to: file)
                let check = try await Self.check(
                    file, in: folder, "--set", "lists.iconBaseURL=https://example.com/icons/", "--json")
                #expect(check.code == 0, "\(example)\(check.messages)")
                let count = check.output.firstMatch(of: /"apps": (\d+)/).flatMap { Int($0.1) }
                #expect(index == 6 ? count == 0 : count ?? 0 > 0, "\(example)")
                expectContains(check.output, "\"problems\": [], \"refused\": []")
            }
        }
    }

    @Test(
        "syncagent check accepts the list that the example in syncagent-lists(5) makes of JSON",
        .enabled(if: Tool.areInstalled("python3"), "takes python3"))
    func conversion() async throws {
        let example = try #require(try ManualPage("syncagent-lists.5").section("EXAMPLES").displays.first)
        try await withTemporaryFolder { folder in
            let json = "[{\"name\": \"Mail\", \"icon\": \"https://example.com/mail.png\"}]"
            try write(json, to: folder.appending("apps.json"))
            let conversion = try await Program.run("sh", "-c", "cd '\(folder)' && \(example)")
            #expect(conversion.code == 0, "\(conversion.messages)")
            let check = try await Self.check(folder.appending("apps.plist"), in: folder)
            #expect(check.code == 0, "\(check.messages)")
        }
    }

    @Test("syncagent-cache(5) shows and explains each key of the documents in a cache")
    func documents() throws {
        let page = try ManualPage("syncagent-cache.5")
        let image = AppListDocument.State.ready(Sample.image("x"))
        let document = Sample.document(
            "apps.plist",
            apps: [
                AppListDocument.App(
                    name: "Mail", icon: "https://a.example/", download: "1M", expected: .of("x"), state: image),
                AppListDocument.App(name: nil, icon: "https://b.example/", download: nil, state: .failed(error: "dns")),
            ])
        let real = Self.keys(in: Sample.manifest(1, [document]).json).union(Self.keys(in: document.json))
        let shown = page.section("DESCRIPTION").displays.map(Self.keys(in:)).reduce(Set<String>()) { $0.union($1) }
        // Few lists have digests, so that one is explained only.
        #expect(shown == real.subtracting(["expected"]))
        let explained = Set(page.words(after: "Ic"))
        // What the manifest calls so, and what the source of a list has, is explained in words.
        #expect(real.subtracting(["apps.plist", "modified"]).isSubset(of: explained), "\(real.subtracting(explained))")
    }

    private static func keys(in json: String) -> Set<String> {
        Set(json.matches(of: #/"([A-Za-z0-9.]+)": /#).map { String($0.1) })
    }

    @Test("syncagent-cache(5) names everything in the cache folder")
    func tree() throws {
        let named = try ManualPage("syncagent-cache.5").section("DESCRIPTION").words(after: "Pa")
            .map { String($0.prefix { $0 != "/" }) }
        let tree = [
            CacheLayout.manifest, CacheLayout.generations, CacheLayout.lists, CacheLayout.icons, CacheLayout.byURL,
            CacheLayout.staging, CacheLayout.lock, CacheLayout.tag,
        ]
        #expect(Set(named).isSuperset(of: tree), "\(Set(tree).subtracting(named))")
    }

    @Test(
        "the programs in syncagent-cache(5) read a cache as they are printed",
        .enabled(if: Tool.areInstalled("jq", "python3", "sha256sum"), "takes jq, python3 and sha256sum"))
    func programs() async throws {
        let examples = try ManualPage("syncagent-cache.5").section("EXAMPLES").displays
        #expect(examples.count == 3)
        try await withTemporaryFolder { cache in
            let mail: IconURL = "https://example.com/mail.png"
            let image = Sample.image("mail")
            let apps = [
                AppListDocument.App(name: "Mail", icon: mail, download: nil, state: .ready(image)),
                AppListDocument.App(name: nil, icon: "https://example.com/maps.png", download: nil, state: .pending),
            ]
            try Sample.publish(1, [Sample.document("apps.plist", apps: apps)], in: cache)
            let link = cache.pushing(FilePath(CacheLayout.byURL(mail)))
            try makeFolder(link.removingLastComponent().removingLastComponent())
            try makeFolder(link.removingLastComponent())
            try write("mail", to: link)
            func output(_ program: String..., of example: Int) async throws -> String {
                let text = examples[example].replacing("/var/cache/syncagent", with: cache.string)
                let result = try await Program.run(program + [text])
                #expect(result.code == 0, "\(result.messages)")
                return result.output
            }
            let entries = "ready\t\(mail)\t\(image.path)\npending\thttps://example.com/maps.png\t\n"
            expectLines(try await output("sh", "-c", of: 0), "\(link)\n")
            expectLines(try await output("sh", "-c", of: 1), entries)
            expectLines(try await output("python3", "-c", of: 2), entries)
        }
    }
}
