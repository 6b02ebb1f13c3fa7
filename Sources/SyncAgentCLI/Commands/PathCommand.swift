// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CacheFormat
import Glibc
import IconCache
import SystemPackage

struct PathCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "path", abstract: "Print the absolute path of an icon's image.",
        usage: "syncagent path [--json] <url> [options]",
        discussion: """
            Works without a running agent. After a refresh, an icon may have another image with another path. While its \
            URL has no image yet, the previous one of its app is printed, and a note on stderr says so.

            Examples:
              syncagent path https://example.com/mail.png
              display "$(syncagent path https://example.com/mail.png)"

            Exit code 1: there is no image.
            """)

    @Argument(help: "The URL, spelled as in the app list.", completion: .offered(.readyIcons))
    var url: IconURL

    @Flag(help: "Print one JSON document: the image with its path, digest, type and size.")
    var json = false

    @OptionGroup var output: OutputOptions
    @OptionGroup var configuration: Configuration

    func run() async throws {
        let cacheFolder = try await configuration.cacheFolder()
        let cache = IconCache(at: cacheFolder)
        // Resolve a URL shortened as in tables; any other URL is taken literally.
        let url = try Suggestion.isShown(url) ? Suggestion.whole(url, in: cacheFolder) ?? url : url
        guard let app = try cache.entry(forIcon: url) else {
            throw Exit.because("No app list names \(shown(url)).\(Suggestion.icon(for: url, in: cacheFolder))")
        }
        switch app.state {
        case .pending: throw Exit.because("\(shown(url)) has not been downloaded yet.")
        case .failed(let code):
            throw Exit.because(
                "\(shown(url)) could not be downloaded (\(code)). See: "
                    + configuration.command("syncagent why \(Suggestion.word(for: url))"))
        case .ready(let image):
            let path = cache.path(of: image)
            guard access(path.string, F_OK) == 0 else {
                throw Exit.because(
                    "The image of \(shown(url)) is missing (\(path)). To repair it: "
                        + configuration.command("syncagent verify --repair"))
            }
            if let previous = app.previous {
                Message.notice(
                    "The image of \(shown(url)) is not on disk yet: this is the app's previous one, from "
                        + "\(shown(previous.icon, beside: url)).")
            }
            guard json else { return try Message.output(path: path.string) }
            try Message.output([
                "format": 1, "url": .text(url), "path": .string(path.string), "sha256": .string(image.sha256.hex),
                "bytes": .number(image.bytes), "type": .string(image.type), "width": .number(image.width),
                "height": .number(image.height), "previous": app.previous.map { .text($0.icon) } ?? .null,
            ])
        }
    }
}
