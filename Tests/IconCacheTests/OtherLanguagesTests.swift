// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
import IconCache
import SystemPackage
import TestSupport
import Testing

@Suite("The examples in other languages", .timeLimit(.minutes(5)))
struct OtherLanguagesTests {
    private static let mail: IconURL = "https://example.com/mail.png"
    /// A URL whose bytes would not survive being taken for text of another kind.
    private static let odd: IconURL = "https://example.com/ü?a=\"b c\"&%25"

    /// Makes the cache that the examples read: a user's own.
    private func withExampleCache(_ body: (_ cache: PublishedCache, _ home: FilePath) async throws -> Void) async throws
    {
        try await withTemporaryFolder { home in
            let cache = try PublishedCache(at: home.appending("syncagent"))
            func app(_ url: IconURL, _ state: AppListDocument.State) -> AppListDocument.App {
                AppListDocument.App(name: nil, icon: url, download: nil, state: state)
            }
            try cache.publish(1, ["other": [Self.mail: "the mail icon", Self.odd: "an odd icon"]])
            try cache.publish(
                2,
                documents: [
                    Sample.document(
                        "apps.plist",
                        apps: [
                            app(Self.mail, .ready(Sample.image("the mail icon"))),
                            app("https://example.com/maps.png", .pending),
                            app("https://example.com/gone.png", .failed(error: "http-404")),
                        ]), Sample.document("other", [Self.odd: "an odd icon"]),
                ])
            try await body(cache, home)
        }
    }

    /// The entries of the list, as all examples print them.
    private var entries: String {
        """
        \(Self.mail)\tready\t\(Sample.image("the mail icon").path)
        https://example.com/maps.png\tpending\t
        https://example.com/gone.png\tfailed\t

        """
    }

    /// A command that tells whether there is a lease on the newest generation.
    private static let lookForLease = "flock --exclusive --nonblock generations/2.json true && echo free || echo leased"

    /// The entries of the list as the examples of the libraries print them.
    private func paths(in cache: PublishedCache) -> String {
        """
        \(Self.mail)\t\(cache.path(Sample.image("the mail icon").path))
        https://example.com/maps.png\t
        https://example.com/gone.png\t

        """
    }

    private static let sources = FilePath(#filePath).removingLastComponent().removingLastComponent()
        .removingLastComponent().appending("Sources")

    @Test("an example reads a list with libiconcache", .enabled(if: Tool.areInstalled("cc"), "cc is not installed"))
    func libraryForC() async throws {
        let example = try #require(try Article("OtherLanguages").examples(in: "c").first)
        try await withExampleCache { cache, home in
            let (file, program) = (home.appending("apps.c").string, home.appending("apps").string)
            try write(example, to: FilePath(file))
            let command = """
                cc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -I '\(Self.sources)/LibIconCache' '\(file)' \
                '\(Self.sources)'/LibIconCache/*.c -o '\(program)'
                """
            let build = try await Program.run("sh", "-c", command)
            #expect(build.code == 0, "\(build.messages)")
            let list = try await Program.run(program, environment: ["XDG_CACHE_HOME": home.string])
            #expect(list.output == paths(in: cache) && list.code == 0)
        }
    }

    @Test(
        "an example reads a list with the Python module",
        .enabled(if: Tool.areInstalled("python3", "cc"), "python3 or cc is not installed"))
    func libraryForPython() async throws {
        let example = try #require(try Article("OtherLanguages").examples(in: "python").first)
        try await withExampleCache { cache, home in
            let (module, library) = ("\(Self.sources)/PythonIconCache", home.appending("libiconcache.so.0").string)
            let command = """
                cc -std=c11 -D_GNU_SOURCE -shared -fPIC '\(Self.sources)'/LibIconCache/*.c -o '\(library)'
                """
            let build = try await Program.run("sh", "-c", command)
            #expect(build.code == 0, "\(build.messages)")
            let list = try await Program.run(
                "python3", "-B", "-c", example,
                environment: ["XDG_CACHE_HOME": home.string, "PYTHONPATH": module, "ICONCACHE_LIBRARY": library])
            #expect(list.output == paths(in: cache) && list.code == 0, "\(list.messages)")
        }
    }

    private static let shells = ["sh", "bash"].filter { Tool.areInstalled($0) }

    @Test(
        "an example finds an image in the shell",
        .enabled(if: Tool.areInstalled("sha256sum"), "sha256sum is not installed"),
        arguments: shells)
    func shellImage(shell: String) async throws {
        let example = try #require(try Article("OtherLanguages").examples(in: "sh").first)
        try await withExampleCache { cache, home in
            let found = try await Program.run(
                shell, "-c", example, environment: ["XDG_CACHE_HOME": home.string])
            #expect(found.output == cache.path(CacheLayout.byURL(Self.mail)).string + "\n", "\(found.messages)")
            try cache.remove(CacheLayout.byURL(Self.mail))
            let missing = try await Program.run(
                shell, "-c", example, environment: ["XDG_CACHE_HOME": home.string])
            #expect(missing.output.isEmpty && missing.code != 0)
        }
    }

    @Test(
        "an example reads a list in the shell under a lease",
        .enabled(if: Tool.areInstalled("jq", "flock"), "jq or flock is not installed"), arguments: shells)
    func shellList(shell: String) async throws {
        let example = try Article("OtherLanguages").examples(in: "sh")[1]
        let lastLine = "exec 9<&-\n"
        #expect(example.hasSuffix(lastLine))
        let script = "\(example.dropLast(lastLine.count))\(Self.lookForLease)\n\(lastLine)\(Self.lookForLease)\n"
        try await withExampleCache { cache, home in
            let list = try await Program.run(shell, "-c", script, environment: ["XDG_CACHE_HOME": home.string])
            #expect(list.output == entries + "leased\nfree\n", "\(list.messages)")
            try cache.publish(3, ["other": [:]])
            let none = try await Program.run(shell, "-c", example, environment: ["XDG_CACHE_HOME": home.string])
            #expect(none.output.isEmpty && none.messages.isEmpty && none.code == 0)
        }
    }

    @Test(
        "an example checks a cache in the shell",
        .enabled(if: Tool.areInstalled("jq", "sha256sum"), "jq or sha256sum is not installed"), arguments: shells)
    func shellCheck(shell: String) async throws {
        let example = try Article("OtherLanguages").examples(in: "sh")[2]
        try await withExampleCache { cache, home in
            func check() async throws -> Program {
                try await Program.run(shell, "-c", example, environment: ["XDG_CACHE_HOME": home.string])
            }
            let whole = try await check()
            #expect(whole.code == 0 && whole.output.isEmpty && whole.messages.isEmpty)
            try write("another icon", to: cache.path(Sample.image("an odd icon").path))
            let damaged = try await check()
            #expect(damaged.code != 0 && damaged.output == "\(Sample.image("an odd icon").path): FAILED\n")
            try cache.remove(Sample.image("an odd icon").path)
            #expect(try await check().code == 1)
            let manifest = try cache.publish(3, ["other": [:]])
            #expect(try await check().code == 0)
            try write("{}", to: cache.path(try #require(manifest.lists["other"]).document))
            #expect(try await check().code == 1)
            try cache.publish(4, [:])
            #expect(try await check().code == 0)
        }
    }

    @Test(
        "an example finds images and reads lists in Python under a lease",
        .enabled(if: Tool.areInstalled("python3", "flock"), "python3 or flock is not installed"))
    func python() async throws {
        let example = try Article("OtherLanguages").examples(in: "python")[1]
        let script = """
            \(example)
            import sys
            cache, *urls = sys.argv[1:]
            for url in urls:
                print(image_path(cache, url))
            for app in apps(cache, "apps.plist"):
                print(app["icon"], app["status"], app.get("path", ""), sep="\\t")
            print(apps(cache, "none"), flush=True)
            os.chdir(cache)
            with open_manifest(cache):
                os.system("\(Self.lookForLease)")
            os.system("\(Self.lookForLease)")
            """
        try await withExampleCache { cache, home in
            let result = try await Program.run(
                "python3", "-c", script, cache.folder.string, Self.mail.text, Self.odd.text, "https://example.com/")
            let paths = [Self.mail, Self.odd].map { cache.path(CacheLayout.byURL($0)).string }
            #expect(
                result.output == "\(paths[0])\n\(paths[1])\nNone\n\(entries)[]\nleased\nfree\n", "\(result.messages)")
        }
    }

    @Test(
        "an example brings a copy up to date, also names whose images of one size and time were swapped",
        .enabled(if: Tool.areInstalled("rsync", "flock"), "rsync or flock is not installed"))
    func copy() async throws {
        let commands = try Article("Copies").examples(in: "sh")[3]
        try await withTemporaryFolder { folder in
            let (cache, copy) = (try PublishedCache(at: folder.appending("cache")), folder.appending("copy"))
            try write("", to: cache.path(CacheLayout.tag))
            try makeFolder(copy)
            for (generation, texts) in [(1, ("one", "two")), (2, ("two", "one"))] {
                try cache.publish(generation, ["apps.plist": [Self.mail: texts.0, Self.odd: texts.1]])
                for text in ["one", "two"] {
                    try await Tool.run("touch", "-d", "@0", cache.path(Sample.image(text).path).string)
                }
                let result = try await Program.run(
                    "sh", "-c", commands, environment: ["cache": cache.folder.string, "copy": copy.string])
                #expect(result.code == 0, "\(result.messages)")
                for (url, text) in [(Self.mail, texts.0), (Self.odd, texts.1)] {
                    #expect(try FileBytes.read(copy.pushing(FilePath(CacheLayout.byURL(url)))) == Array(text.utf8))
                }
            }
        }
    }

    @Test(
        "an example reads a cache from a plain web server, and notices damage",
        .enabled(if: Tool.areInstalled("python3"), "python3 is not installed"))
    func webServer() async throws {
        let example = try #require(try Article("Copies").examples(in: "python").first)
        let script = """
            \(example)
            import functools, http.server, sys, threading
            files = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])
            server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), files)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            base = f"http://127.0.0.1:{server.server_port}"
            print(image(base, sys.argv[2]).decode(), flush=True)
            print(images(base, "apps.plist"))
            """
        try await withExampleCache { cache, _ in
            func read() async throws -> Program {
                try await Program.run(
                    "python3", "-c", script, cache.folder.string, Self.odd.text, environment: ["no_proxy": "*"])
            }
            let whole = try await read()
            #expect(whole.output == "an odd icon\n{'\(Self.mail)': b'the mail icon'}\n", "\(whole.messages)")
            try write("another icon!", to: cache.path(Sample.image("the mail icon").path))
            let damaged = try await read()
            #expect(damaged.output == "an odd icon\n" && damaged.code == 1)
            #expect(damaged.messages.contains("\(Sample.image("the mail icon").path) is damaged"))
        }
    }

    @Test(
        "an example finds an image in C",
        .enabled(if: Tool.areInstalled("cc"), "cc is not installed"))
    func image() async throws {
        let example = try Article("OtherLanguages").examples(in: "c")[1]
        try await withExampleCache { cache, home in
            guard let program = try await build(example, in: home, with: "-lcrypto", header: "openssl/sha.h") else {
                return
            }
            for url in [Self.mail, Self.odd] {
                let found = try await Program.run(program, cache.folder.string, url.text)
                #expect(found.output == cache.path(CacheLayout.byURL(url)).string + "\n")
                #expect(found.code == 0)
            }
            let missing = try await Program.run(program, cache.folder.string, "https://example.com/")
            #expect(missing.output.isEmpty && missing.code != 0)
        }
    }

    @Test(
        "an example reads a list in C under a lease",
        .enabled(if: Tool.areInstalled("cc", "flock"), "cc or flock is not installed"))
    func list() async throws {
        let example = try Article("OtherLanguages").examples(in: "c")[2]
        let leases = """
            #include <stdlib.h>
            #define main list
            \(example)
            #undef main
            int main(int argc, char **argv)
            {
                list(argc, argv);
                fflush(stdout);
                int file = open_manifest("manifest.json");
                system("\(Self.lookForLease)");
                close(file);
                return system("\(Self.lookForLease)");
            }
            """
        try await withExampleCache { cache, home in
            guard let program = try await build(example, in: home, with: "-ljansson", header: "jansson.h"),
                let leasing = try await build(leases, in: home, with: "-ljansson", header: "jansson.h")
            else { return }
            let list = try await Program.run(program, cache.folder.string, "apps.plist")
            #expect(list.output == entries && list.code == 0)
            let none = try await Program.run(program, cache.folder.string, "none")
            #expect(none.output.isEmpty && none.code == 0)
            #expect(try await Program.run(program, home.string, "apps.plist").code == 1)
            let leased = try await Program.run(leasing, cache.folder.string, "apps.plist")
            #expect(leased.output == entries + "leased\nfree\n")
        }
    }

    /// Compiles a program without warnings.
    ///
    /// - Returns: Its path; `nil` if the library is not installed, which is said.
    private func build(
        _ source: String, in folder: FilePath, with library: String, header: String
    ) async throws -> String? {
        let program = folder.appending("program-\(source.utf8.count)").string
        let hasHeader = try await Program.run("cc", "-xc", "-E", "-", reading: "#include <\(header)>").code == 0
        guard hasHeader else {
            print("skipped: \(header) is not installed")
            return nil
        }
        let compiler = try await Program.run(
            "cc", "-Wall", "-Wextra", "-Werror", "-Wno-unused-result", "-O2", "-xc", "-", "-o", program, library,
            reading: source)
        #expect(compiler.code == 0, "\(compiler.messages)")
        return program
    }
}
