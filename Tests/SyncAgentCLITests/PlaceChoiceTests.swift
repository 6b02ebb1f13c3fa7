// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent
@testable import SyncAgentCLI

@Suite("Folders of commands")
struct PlaceChoiceTests {
    private static let own = Place(
        folders: AgentFolders(
            lists: "/home/u/.config/syncagent/lists.d", cache: "/home/u/.cache/syncagent",
            state: "/home/u/.local/state/syncagent", socket: "/home/u/.local/state/syncagent/control.sock"),
        file: "/home/u/.config/syncagent/syncagent.toml")
    private static let system = PlaceChoice.system

    private static func place(
        _ choice: PlaceChoice, _ environment: [String: String] = ["HOME": "/home/u"], there: Set<FilePath> = [],
        links: [FilePath: FilePath] = [:]
    ) throws -> Place {
        try choice.place(
            in: PlaceChoice.Environment(
                variable: { environment[$0] }, directory: { "/here" }, exists: { there.contains($0) },
                target: { links[$0] }, isAnswered: { there.contains($0) }))
    }

    @Test("a command uses the folders of its user by default")
    func user() throws {
        #expect(try Self.place(PlaceChoice()) == Self.own)
        let xdg = [
            "HOME": "/home/u", "XDG_CONFIG_HOME": "/c", "XDG_CACHE_HOME": "/k", "XDG_STATE_HOME": "relative",
            "XDG_RUNTIME_DIR": "/run/user/1",
        ]
        #expect(
            try Self.place(PlaceChoice(), xdg)
                == Place(
                    folders: AgentFolders(
                        lists: "/c/syncagent/lists.d", cache: "/k/syncagent", state: "/home/u/.local/state/syncagent",
                        socket: "/run/user/1/syncagent/control.sock"), file: "/c/syncagent/syncagent.toml"))
    }

    @Test(
        "a command turns to the system's agent if that is the only one; run does not",
        arguments: [
            ([system.folders.socket], false, true), ([system.folders.cache], false, true),
            ([system.folders.cache, own.folders.cache], false, false),
            ([system.folders.cache, own.folders.socket], false, false), ([system.folders.cache], true, false),
            ([system.folders.cache, own.folders.lists], false, true),
            // The package was installed, and its service never started.
            ([system.folders.lists], false, true), ([system.folders.lists], true, false),
            ([system.folders.lists, own.folders.lists], false, false),
            ([system.folders.lists, own.folders.cache], false, false), ([], false, false),
        ] as [([FilePath], Bool, Bool)])
    func turn(there: [FilePath], toRun: Bool, isSystem: Bool) throws {
        let place = try Self.place(PlaceChoice(toRun: toRun), there: Set(there))
        #expect(place == (isSystem ? Self.system : Self.own))
    }

    @Test("a command without the environment of the running agent finds its socket in the state folder")
    func running() throws {
        let link = Self.own.folders.socketLink
        let links: [FilePath: FilePath] = [link: "/run/user/1/syncagent/control.sock"]
        let running: Set<FilePath> = [Self.own.folders.cache, "/run/user/1/syncagent/control.sock"]
        var expected = Self.own
        expected.folders.socket = "/run/user/1/syncagent/control.sock"
        #expect(try Self.place(PlaceChoice(), there: running, links: links) == expected)
        // It has ended; another one answers where it is expected; a socket is named; an agent is started.
        #expect(try Self.place(PlaceChoice(), there: [Self.own.folders.cache], links: links) == Self.own)
        #expect(
            try Self.place(PlaceChoice(), there: running.union([Self.own.folders.socket]), links: links) == Self.own)
        #expect(
            try Self.place(PlaceChoice(socket: "/s"), there: running, links: links).folders.socket == "/s")
        #expect(try Self.place(PlaceChoice(toRun: true), there: running, links: links) == Self.own)
        // Of the state folder that is named.
        #expect(
            try Self.place(PlaceChoice(state: "/s"), there: ["/r"], links: ["/s/running.sock": "/r"]).folders.socket
                == "/r")
    }

    @Test("--system and --user choose, and so does any folder that is named")
    func named() throws {
        let there: Set = [Self.system.folders.cache]
        #expect(try Self.place(PlaceChoice(owner: .system)) == Self.system)
        #expect(try Self.place(PlaceChoice(owner: .user), there: there) == Self.own)
        #expect(try Self.place(PlaceChoice(owner: .system, toRun: true)) == Self.system)
        var expected = Self.own
        expected.folders.cache = "/here/k"
        #expect(try Self.place(PlaceChoice(cache: "x/../k"), there: there) == expected)
        expected = Self.own
        (expected.folders.state, expected.folders.socket) = ("/s", "/s/control.sock")
        #expect(try Self.place(PlaceChoice(state: "/s")) == expected)
        expected = Self.system
        (expected.file, expected.isFileNamed) = ("/here/c.toml", true)
        #expect(try Self.place(PlaceChoice(config: "c.toml"), there: there) == expected)
    }

    @Test(
        "folders within the cache, and a lists folder that is the state folder, are refused",
        arguments: [
            (PlaceChoice(lists: "/c/lists", cache: "/c"), "The lists folder (/c/lists) is in the cache folder (/c): "),
            (PlaceChoice(lists: "/c", cache: "/c"), "The lists folder (/c) is in the cache folder (/c): "),
            (PlaceChoice(cache: "/c", state: "/c/icons"), "The state folder (/c/icons) is in the cache folder (/c): "),
            (PlaceChoice(cache: "/c", socket: "/c/lock"), "The socket (/c/lock) is in the cache folder (/c): "),
            (PlaceChoice(lists: "/s", state: "/s"), "--lists and --state are the same folder (/s): "),
        ])
    func inside(choice: PlaceChoice, message: String) throws {
        let failure = #expect(throws: PlaceChoice.Failure.self) { try Self.place(choice) }
        #expect(failure?.description.hasPrefix(message) == true && failure?.code == .usage)
    }

    @Test("a socket and lists have a place in the cache folder under names that are not the agent's")
    func free() throws {
        let place = try Self.place(PlaceChoice(lists: "/c/lists.d", cache: "/c", socket: "/c/control.sock"))
        #expect(place.folders.socket == "/c/control.sock" && place.folders.lists == "/c/lists.d")
    }

    @Test("a path is inside a folder through links, too, and before it exists")
    func links() async throws {
        try await withTemporaryFolder { folder in
            let (cache, link) = (folder.appending("cache"), folder.appending("link"))
            try makeFolder(cache)
            try #require(symlink(cache.string, link.string) == 0)
            for path in ["cache", "link", "link/lists", "cache/a/b"] {
                #expect(folder.appending(FilePath(path).components).isInside(cache), "\(path)")
            }
            #expect(link.appending("lists").isInside(link.appending("lists")))
            for path in ["cached", "lists", "."] {
                #expect(!folder.appending(FilePath(path).components).isInside(cache), "\(path)")
            }
        }
    }

    @Test("run takes the folders that systemd made for it, and options win over them")
    func service() throws {
        let unit = [
            "CONFIGURATION_DIRECTORY": "/etc/syncagent", "CACHE_DIRECTORY": "/var/cache/syncagent",
            "STATE_DIRECTORY": "/var/lib/syncagent:/var/lib/other", "RUNTIME_DIRECTORY": "/run/syncagent",
        ]
        #expect(try Self.place(PlaceChoice(toRun: true), unit) == Self.system)
        var expected = Self.system
        expected.folders.lists = "/srv/lists"
        #expect(try Self.place(PlaceChoice(lists: "/srv/lists", toRun: true), unit) == expected)
        // Others are started by people.
        var both = unit
        both["HOME"] = "/home/u"
        #expect(try Self.place(PlaceChoice(), both) == Self.own)
        both["RUNTIME_DIRECTORY"] = nil
        #expect(try Self.place(PlaceChoice(toRun: true), both).folders.socket == "/var/lib/syncagent/control.sock")
    }

    @Test("a command without a home, or with the same folder twice, fails")
    func wrong() throws {
        #expect(throws: PlaceChoice.Failure.self) { try Self.place(PlaceChoice(), [:]) }
        #expect(throws: PlaceChoice.Failure.self) { try Self.place(PlaceChoice(cache: ""), ["HOME": "/h"]) }
        let same = PlaceChoice(cache: "/c", state: "/c")
        let failure = PlaceChoice.Failure("--cache and --state are the same folder (/c): use two folders.", .usage)
        #expect(throws: failure) { try Self.place(same) }
        // Without a home, the system's agent may be asked.
        #expect(try Self.place(PlaceChoice(), [:], there: [Self.system.folders.cache]) == Self.system)
        #expect(try Self.place(PlaceChoice(), [:], there: [Self.system.folders.lists]) == Self.system)
        let all = PlaceChoice(lists: "/l", cache: "/c", state: "/s", socket: "/o")
        #expect(try Self.place(all, [:]).folders == AgentFolders(lists: "/l", cache: "/c", state: "/s", socket: "/o"))
    }
}
