// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
import IconCache
import Reports
import Subprocess
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Renditions", .timeLimit(.minutes(15)), .serialized)
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
        "renditions are found by document, by URL and size, over HTTP, and in the icon theme",
        .enabled(if: lack == nil, Comment(rawValue: lack ?? "")))
    func everywhere() async throws {
        try await Self.with { plain, _ in
            let world = plain.setting("SYNCAGENT_SERVE_LISTEN", "127.0.0.1:0")
            try world.drop(["Mail", "Maps"])
            try await world.agent.whileRunning { _ in
                let report = try await world.agent.status { Self.isRendered($0, 2) && $0.listeners.first != nil }
                let listener = try #require(report.listeners.first { $0.name == "images" })
                try await Self.expectServed(world, at: listener.address)
            }
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
                    try await world.agent.call("path", url, "--size", "50", "--resolve").output
                        == cache.path(of: app.renditions[1].image).string + "\n")
                #expect(
                    try await world.agent.call("path", "--app", name, "--size", "1000", "--resolve").output
                        == cache.path(of: try #require(app.ownImage)).string + "\n")
                #expect(
                    try await world.agent.call("path", url, "--size", "50").output
                        == cache.folder.appending(CacheLayout.bySize(app.renditions[1].size, .of(url))).string + "\n")
            }
            #expect(try world.expectWholeCache() == 2)
            expectContains(try await world.agent.call("verify").output, "6 images")
            for size in ["0", "65536", "1@2"] {
                #expect(try await world.agent.call("path", "--app", "Mail", "--size", size).code == 64)
            }
            #expect(
                try await world.agent.call("path", "--app", "Mail", "--size", "64@2").output
                    == world.agent.call("path", "--app", "Mail", "--size", "128").output)
        }
    }

    private static func expectServed(_ world: World, at address: String) async throws {
        let app = try #require(try apps(world).first)
        let url = "http://\(address)/icons?url=\(world.origin.iconURL("Mail"))"
        for (size, image) in [
            ("", app.ownImage), ("&size=10", app.renditions[0].image), ("&size=49", app.renditions[1].image),
            ("&size=129", app.ownImage),
        ] {
            let answer = try await Program.run("curl", "-sS", "-o", "/dev/null", "-D", "-", url + size)
            let digest = try #require(image).sha256.hex
            #expect(answer.output.contains(digest), "\(size): \(answer.output)")
        }
        expectContains(try await Program.run("curl", "-sS", url + "&size=0").output, "no-size")
    }

    @Test(
        "renditions survive a restart, are made again if damaged, and go when no size is set",
        .enabled(if: lack == nil, Comment(rawValue: lack ?? "")))
    func life() async throws {
        try await Self.with { world, _ in
            try world.drop(["Mail", "Maps"])
            try await world.agent.whileRunning { _ in
                try await world.agent.status { Self.isRendered($0, 2) }
                let cache = IconCache(at: world.agent.cache)
                let rendition = try #require(try Self.apps(world).first?.renditions.first?.image)
                let path = cache.path(of: rendition).string
                try #require(chmod(path, 0o644) == 0)
                let file = open(path, O_WRONLY)
                try #require(pwrite(file, "!", 1, 20) == 1)
                close(file)
                expectContains(try await world.agent.call("verify", "--repair").output, "1 file damaged")
                try await waitUntil { (try? FileBytes.read(FilePath(path))).map(Digest.of) == rendition.sha256 }
                try await world.agent.status { Self.isRendered($0, 2) }
                #expect(try await world.agent.call("verify").code == 0)
            }
            #expect(world.origin.requestCount == 2)

            let document = try Self.apps(world)
            let metrics = world.folder.appending("m.prom")
            try await world.setting("SYNCAGENT_METRICS_TEXTFILE", metrics.string).agent.whileRunning { _ in
                try await world.agent.status { Self.isRendered($0, 2) }
                expectContains(try await world.agent.call("why", world.origin.iconURL("Mail")).output, "48, 64@2")
                expectContains(try await world.agent.call("status").output, "2 images rendered")
            }
            #expect(try Self.apps(world) == document)
            let counted = String(decoding: try FileBytes.read(metrics), as: UTF8.self)
            for count in 1...2 { #expect(!counted.contains("rendered_images_total{result=\"rendered\"} \(count)")) }

            // Without a grace, the files go with the names.
            let off = world.setting("SYNCAGENT_RENDER_SIZES", "").setting("SYNCAGENT_CACHE_GRACE", "0s")
            try await off.agent.whileRunning { _ in
                try await off.agent.status { $0.inSync && $0.renditions == nil && $0.cache.images == 2 }
            }
            #expect(try Self.apps(off).allSatisfy(\.renditions.isEmpty))
            let rest = try files(in: world.agent.cache).filter { $0.contains("by-size") || $0.contains("share") }
            #expect(rest.isEmpty)
        }
    }

    /// What a renderer may do while it has an image, and what the image has failed with then.
    private static let faults = [
        (code: "os.kill(os.getpid(), 11)", message: "render-failed: the renderer was killed by signal 11"),
        (code: "os.kill(os.getpid(), 9)", message: "render-interrupted: the renderer was killed by signal 9"),
        (code: "sys.exit(3)", message: "render-failed: the renderer exited with status 3"),
        (code: "write(b'nonsense, and more of it')", message: "render-failed: the renderer sent an invalid answer"),
        (code: "sys.exit(0)", message: "render-failed: the renderer exited with status 0"),
        (code: "answer(sizes, lambda side: b'no picture')", message: "render-failed: the renderer made no image"),
        (
            code: "answer([side * 2 for side in sizes])",
            message: "render-failed: the renderer sent an invalid answer"
        ),
    ]

    @Test("icons are ready without a renderer; a renderer that fails costs only the images that it fails on")
    func faultyRenderer() async throws {
        try await Self.with(renderer: false) { world, renderer in
            let count = Self.faults.count + 1
            try world.drop((1...count).map { "App \($0)" })
            let cache = IconCache(at: world.agent.cache)
            try await world.agent.whileRunning { agent in
                try await world.agent.status {
                    $0.renditions?.error != nil
                        && (try? cache.apps(in: "apps.plist"))?.count(where: \.isReady) == count
                }
                let status = try await world.agent.call("status")
                #expect(status.code == 1)
                expectContains(status.output, "syncagent-render is not installed", "[not-rendered]")

                let apps = try Self.apps(world)
                let digests = try apps.map { try #require($0.ownImage).sha256.hex }
                try #require(Set(digests).count == count)
                let cases = zip(digests, Self.faults).map { "elif digest == '\($0)': \($1.code)" }
                let choice = ["digest = hashlib.sha256(image).hexdigest()", "if False: pass"] + cases
                let script = choice + ["else: answer(sizes)"]
                try Self.install(Self.script(script.joined(separator: "\n")), at: renderer)
                // A reload looks for the renderer at once.
                try #require(kill(agent.value, SIGHUP) == 0)
                try await world.agent.status { Self.isRendered($0, 1, failed: Self.faults.count) }
                expectContains(
                    try await world.agent.call("events").output, "rendering-blocked", "rendering-unblocked")
                for (app, fault) in zip(apps, Self.faults) {
                    expectContains(try await world.agent.call("why", app.icon.text).output, fault.message)
                }

                try Self.install(Self.script("answer(sizes)"), at: renderer)
                let retry = try await world.agent.call("retry", "--failed")
                #expect(retry.code == 0 && retry.output.contains("now."), "\(retry)")
                try await world.agent.status { Self.isRendered($0, count) }
                #expect(try await world.agent.call("retry", "--failed").output.hasPrefix("Nothing to retry"))
            }
            let status = try await world.agent.call("status", "--set", "render.sizes=48,64@2")
            expectContains(status.output, "\(count) images rendered")
            #expect(try Self.apps(world).map(\.renditions.count) == Array(repeating: 2, count: count))
        }
    }

    @Test(
        "an agent that is killed while images are rendered leaves the cache whole, and goes on at its next start",
        .enabled(if: lack == nil, Comment(rawValue: lack ?? "")))
    func killed() async throws {
        try await Self.with { world, _ in
            try world.drop((1...20).map { "App \($0)" })
            for round in 0..<4 {
                try await world.agent.whileRunning(endedBy: .kill) { _ in
                    try await world.agent.status {
                        $0.icons.ready >= min(round * 7, 20) && $0.renditions?.ready ?? 0 >= round * 5
                    }
                }
                if access(world.agent.cache.appending("manifest.json").string, F_OK) == 0 {
                    try world.expectWholeCache()
                }
            }
            try await world.agent.whileRunning { _ in try await world.agent.status { Self.isRendered($0, 20) } }
            #expect(try Self.apps(world).allSatisfy { $0.renditions.count == 2 })
            try world.expectWholeCache()
        }
    }

    @Test(
        "a follower takes renditions from its upstream, without a renderer of its own",
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
}
