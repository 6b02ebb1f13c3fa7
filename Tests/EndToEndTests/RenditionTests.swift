// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import DemoOrigin
import Glibc
import IconCache
import Reports
import Subprocess
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Images in the sizes that are drawn", .serialized)
struct RenditionTests {
    /// Why there is no renderer to test with; `nil` if there is one.
    static let lack: String? =
        access(BuiltProducts.path("syncagent-render").string, X_OK) == 0
        ? nil : "syncagent-render is not built: run Packaging/renderer with the folder of the programs"

    /// A world whose programs are in a folder of its own, so that it can have another renderer, or none.
    private static func with(
        renderer: Bool = true, sizes: String = "48,64@2",
        _ body: @escaping @Sendable (World, _ renderer: FilePath) async throws -> Void
    ) async throws {
        try await World.with { world in
            let programs = world.folder.appending("programs")
            try makeFolder(programs)
            for name in ["syncagent", "syncagent-watch", "syncagent-parse"] + (renderer ? ["syncagent-render"] : []) {
                let copy = try await Program.run("cp", "-l", BuiltProducts.path(name).string, programs.string)
                if copy.code != 0 {
                    try #require(
                        await Program.run("cp", BuiltProducts.path(name).string, programs.string).code == 0)
                }
            }
            var own = world
            own.agent = AgentProcess(program: programs.appending("syncagent"), folder: world.folder)
            own.agent.environment = world.agent.environment
            try await body(
                own.setting("SYNCAGENT_RENDER_SIZES", sizes).setting("SYNCAGENT_DESKTOP_ICONS", "true"),
                programs.appending("syncagent-render"))
        }
    }

    private static func isRendered(_ report: StatusReport, _ ready: Int, failed: Int = 0) -> Bool {
        report.inSync && report.renditions?.ready == ready && report.renditions?.pending == 0
            && report.renditions?.failed == failed
    }

    private static func apps(_ world: World) throws -> [AppListDocument.App] {
        try #require(try IconCache(at: world.agent.cache).apps(in: "apps.plist"))
    }

    /// A program that speaks like a renderer, and does with each image what the Python code says.
    private static func script(_ body: String) -> String {
        """
        #!/usr/bin/env python3
        import hashlib, os, struct, sys, zlib
        def read(count):
            data = sys.stdin.buffer.read(count)
            if len(data) < count: sys.exit(0)
            return data
        def png(side):
            def chunk(name, data):
                return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
            return (b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0))
                + chunk(b"IDAT", zlib.compress(b"".join(b"\\0" + bytes(side) for _ in range(side)))) + chunk(b"IEND", b""))
        def write(*parts):
            sys.stdout.buffer.write(b"".join(parts)); sys.stdout.buffer.flush()
        def answer(sizes, make=png):
            write(struct.pack("<II", 0x41524E52, 0),
                *(struct.pack("<III", side, side, len(make(side))) + make(side) for side in sizes))
        write(b"SYNCREND" + struct.pack("<II", 7, 0x3E))
        while True:
            magic, kind, flags, count = struct.unpack("<IIII", read(16))
            sizes = struct.unpack(f"<{count}I", read(4 * count))
            most, length = struct.unpack("<II", read(8))
            image = read(length)
        \(body.split(separator: "\n").map { "    " + $0 }.joined(separator: "\n"))

        """
    }

    private static func install(_ text: String, at path: FilePath) throws {
        let temporary = FilePath(path.string + ".new")
        try write(text, to: temporary)
        try #require(chmod(temporary.string, 0o755) == 0 && rename(temporary.string, path.string) == 0)
    }

    @Test(
        "they are in the document, by URL and size, over HTTP, and in the icon theme; and gone when no size asks for them",
        .enabled(if: lack == nil, Comment(rawValue: lack ?? "")))
    func everywhere() async throws {
        try await Self.with { world, _ in
            try world.drop(["Mail", "Maps"])
            try await world.agent.whileRunning { _ in try await world.agent.status { Self.isRendered($0, 2) } }
            let cache = IconCache(at: world.agent.cache)
            for (app, name) in zip(try Self.apps(world), ["Mail", "Maps"]) {
                #expect(app.renditions.map(\.size.description) == ["48", "64@2"])
                for (rendition, folder) in zip(app.renditions, ["48x48", "64x64@2"]) {
                    let image = rendition.image
                    #expect(max(image.width, image.height) == rendition.size.pixels)
                    let bytes = try FileBytes.read(cache.path(of: image))
                    #expect(Digest.of(bytes) == image.sha256)
                    let themed = world.agent.cache.appending("share/icons/hicolor/\(folder)/apps/\(name).png")
                    #expect(try FileBytes.read(themed) == bytes)
                    #expect(
                        try FileBytes.read(try #require(try cache.icon(for: app.icon, pixels: image.width)).path)
                            == bytes)
                }
                let url = app.icon.text
                #expect(
                    try await world.agent.call("path", url, "--size", "50").output
                        == cache.path(of: app.renditions[1].image).string + "\n")
                #expect(
                    try await world.agent.call("path", "--app", name, "--size", "1000").output
                        == cache.path(of: try #require(app.ownImage)).string + "\n")
            }
            #expect(try world.expectWholeCache() == 2)
            #expect(try await world.agent.call("verify").output.contains("6 images"))
            for size in ["0", "65536", "1@2"] {
                #expect(try await world.agent.call("path", "--app", "Mail", "--size", size).code == 64)
            }
            #expect(
                try await world.agent.call("path", "--app", "Mail", "--size", "64@2").output
                    == world.agent.call("path", "--app", "Mail", "--size", "128").output)

            // After a restart nothing is rendered again.
            let document = try Self.apps(world)
            let metrics = world.folder.appending("m.prom")
            try await world.setting("SYNCAGENT_METRICS_TEXTFILE", metrics.string).agent.whileRunning { _ in
                try await world.agent.status { Self.isRendered($0, 2) }
                #expect(try await world.agent.call("why", world.origin.iconURL("Mail")).output.contains("48, 64@2"))
                #expect(try await world.agent.call("status").output.contains("2 images rendered"))
            }
            #expect(try Self.apps(world) == document)
            #expect(
                !(try String(decoding: FileBytes.read(metrics), as: UTF8.self)).contains(
                    "rendered_images_total{result=\"rendered\"} 2"))

            // Without sizes, documents and names have none; without a grace, the files are gone as well.
            let off = world.setting("SYNCAGENT_RENDER_SIZES", "").setting("SYNCAGENT_CACHE_GRACE", "0s")
            try await off.agent.whileRunning { _ in
                try await off.agent.status { $0.inSync && $0.renditions == nil && $0.cache.images == 2 }
            }
            #expect(try Self.apps(off).allSatisfy(\.renditions.isEmpty))
            let rest = try files(in: world.agent.cache)
            #expect(!rest.contains { $0.contains("by-size") || $0.contains("share") }, "\(rest)")
        }
    }

    @Test("without a renderer the icons are ready, and status says what is missing; one that is installed is found")
    func missing() async throws {
        try await Self.with(renderer: false) { world, renderer in
            try world.drop(["Mail"])
            try await world.agent.whileRunning { agent in
                try await world.agent.status { $0.icons.ready == 1 && $0.renditions?.error != nil }
                let status = try await world.agent.call("status")
                #expect(status.code == 1 && status.output.contains("syncagent-render is not installed"), "\(status)")
                #expect(status.output.contains("[not-rendered]"))
                try Self.install(Self.script("answer(sizes)"), at: renderer)
                // A reload looks again at once.
                try #require(kill(agent.value, SIGHUP) == 0)
                try await world.agent.status { Self.isRendered($0, 1) }
                let events = try await world.agent.call("events").output
                #expect(events.contains("rendering-blocked") && events.contains("rendering-unblocked"), "\(events)")
            }
            #expect(try Self.apps(world).first?.renditions.count == 2)
        }
    }

    @Test(
        "a renderer that dies, hangs, answers nonsense or nothing costs the image, and no other",
        arguments: [
            ("os.kill(os.getpid(), 11)", "render-failed: the renderer was killed by signal 11"),
            ("os.kill(os.getpid(), 9)", "render-interrupted: the renderer was killed by signal 9"),
            ("sys.exit(3)", "render-failed: the renderer exited with status 3"),
            ("write(b'nonsense, and more of it')", "render-failed: the renderer sent an invalid answer"),
            ("sys.exit(0)", "render-failed: the renderer exited with status 0"),
            ("answer(sizes, lambda side: b'no picture')", "render-failed: the renderer made no image"),
            ("answer([side * 2 for side in sizes])", "render-failed: the renderer sent an invalid answer"),
        ])
    func dying(fault: String, message: String) async throws {
        try await Self.with(renderer: false) { world, renderer in
            let names = (1...8).map { "App \($0)" }
            try world.drop(names)
            try #require(
                try await world.setting("SYNCAGENT_RENDER_SIZES", "").agent.call("run", "--once").code == 0)
            let victim = try Self.apps(world)[2]
            let digest = try #require(victim.ownImage).sha256
            try Self.install(
                Self.script("if hashlib.sha256(image).hexdigest() == '\(digest.hex)': \(fault)\nelse: answer(sizes)"),
                at: renderer)
            let others = try Self.apps(world).count { $0.ownImage?.sha256 != digest }
            try #require((1..<8).contains(others))
            try await world.agent.whileRunning { _ in
                try await world.agent.status { Self.isRendered($0, others, failed: 8 - others) }
                let why = try await world.agent.call("why", victim.icon.text)
                #expect(why.output.contains(message), "\(why.output)")
                // A user who knows better has it tried again.
                try Self.install(Self.script("answer(sizes)"), at: renderer)
                let retry = try await world.agent.call("retry", "--failed")
                #expect(retry.code == 0 && retry.output.contains("now."), "\(retry)")
                try await world.agent.status { Self.isRendered($0, 8) }
                #expect(try await world.agent.call("retry", "--failed").output.hasPrefix("Nothing to retry"))
            }
            // It is told from disk as well.
            let status = try await world.agent.call("status", "--set", "render.sizes=48,64@2")
            #expect(status.output.contains("8 images rendered"), "\(status)")
            let rendered = try Self.apps(world).filter { !$0.renditions.isEmpty }
            #expect(rendered.count == 8)
        }
    }

    @Test(
        "a kill at any time leaves what the manifest names, and the next start goes on",
        .enabled(if: lack == nil, Comment(rawValue: lack ?? "")))
    func killed() async throws {
        try await Self.with { world, _ in
            try world.drop((1...60).map { "App \($0)" })
            for round in 0..<6 {
                try await world.agent.whileRunning(endedBy: .kill) { _ in
                    try await world.agent.status {
                        $0.icons.ready >= min(round * 20, 60) && $0.renditions?.ready ?? 0 >= min(round * 12, 60)
                    }
                }
                if access(world.agent.cache.appending("manifest.json").string, F_OK) == 0 {
                    try world.expectWholeCache()
                }
            }
            try await world.agent.whileRunning { _ in try await world.agent.status { Self.isRendered($0, 60) } }
            #expect(try Self.apps(world).allSatisfy { $0.renditions.count == 2 })
            try world.expectWholeCache()
        }
    }

    @Test(
        "a damaged rendition is found, and made again",
        .enabled(if: lack == nil, Comment(rawValue: lack ?? "")))
    func damaged() async throws {
        try await Self.with { world, _ in
            try world.drop(["Mail"])
            try await world.agent.whileRunning { _ in
                try await world.agent.status { Self.isRendered($0, 1) }
                let cache = IconCache(at: world.agent.cache)
                let rendition = try #require(try Self.apps(world).first?.renditions.first?.image)
                let path = cache.path(of: rendition).string
                try #require(chmod(path, 0o644) == 0)
                let file = open(path, O_WRONLY)
                try #require(pwrite(file, "!", 1, 20) == 1)
                close(file)
                let verify = try await world.agent.call("verify", "--repair")
                #expect(verify.output.contains("1 file damaged"), "\(verify)")
                try await waitUntil { (try? FileBytes.read(FilePath(path))).map(Digest.of) == rendition.sha256 }
                try await world.agent.status { Self.isRendered($0, 1) }
                #expect(try await world.agent.call("verify").code == 0)
            }
            #expect(world.origin.requestCount == 1)
        }
    }

    @Test(
        "a follower takes them from its upstream by their digests, without a renderer of its own",
        .enabled(if: lack == nil, Comment(rawValue: lack ?? "")))
    func follower() async throws {
        try await Self.with { world, renderer in
            try world.drop(["Mail", "Maps"])
            try await world.agent.whileRunning { _ in try await world.agent.status { Self.isRendered($0, 2) } }
            let folder = world.folder.appending("export")
            try #require(try await world.agent.call("export", folder.string).code == 0)
            try #require(unlink(renderer.string) == 0)
            var follower = world
            let own = world.folder.appending("follower")
            follower.agent = AgentProcess(program: renderer.removingLastComponent().appending("syncagent"), folder: own)
            follower.agent.environment = world.agent.environment
            try makeFolder(own)
            try makeFolder(follower.agent.lists)
            follower = follower.setting("SYNCAGENT_UPSTREAM_URLS", "file://\(folder)")
                .setting("SYNCAGENT_UPSTREAM_FALLBACK", "never").setting("SYNCAGENT_UPSTREAM_POLL", "100ms")
            try follower.drop(["Mail", "Maps"])
            try await follower.agent.whileRunning { [follower] _ in
                let report = try await follower.agent.status { Self.isRendered($0, 2) }
                #expect(report.renditions?.error == nil)
            }
            #expect(try Self.apps(follower).map(\.renditions) == Self.apps(world).map(\.renditions))
            try follower.expectWholeCache()
        }
    }

    @Test(
        "icons of over HTTP in the size that is asked for",
        .enabled(if: lack == nil, Comment(rawValue: lack ?? "")))
    func overHTTP() async throws {
        try await Self.with { plain, _ in
            let world = plain.setting("SYNCAGENT_SERVE_LISTEN", "127.0.0.1:0")
            try world.drop(["Mail"])
            try await world.agent.whileRunning { _ in
                let report = try await world.agent.status { Self.isRendered($0, 1) && $0.listeners?.first != nil }
                let address = try #require(report.listeners?.first { $0.name == "images" })
                let app = try #require(try Self.apps(world).first)
                let url = "http://\(address.address)/icons?url=\(world.origin.iconURL("Mail"))"
                for (size, image) in [
                    ("", app.ownImage), ("&size=10", app.renditions[0].image), ("&size=49", app.renditions[1].image),
                    ("&size=129", app.ownImage),
                ] {
                    let answer = try await Program.run("curl", "-sS", "-o", "/dev/null", "-D", "-", url + size)
                    #expect(answer.output.contains(try #require(image).sha256.hex), "\(size): \(answer.output)")
                }
                let wrong = try await Program.run("curl", "-sS", url + "&size=0")
                #expect(wrong.output.contains("no-size"))
            }
        }
    }
}
