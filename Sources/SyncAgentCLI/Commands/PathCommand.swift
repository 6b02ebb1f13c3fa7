// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CacheFormat
import Glibc
import IconCache
import Reports
import SystemPackage

struct PathCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "path", abstract: "Print the absolute path of an icon's image.",
        usage: "syncagent path (<url> | --app <name> [--list <list>]) [options]",
        discussion: """
            Works without a running agent. The path stays the same as long as a list names the URL, and leads to the \
            newest image. With --resolve it is that of the present image, which never changes, and is gone some time \
            after another one has taken its place. While the URL has no image yet, the previous one of its app is used, and \
            a note on stderr says so. If several apps have the name, one with an image comes first, and then the first list \
            by name. With --size, it is the smallest rendition that is large enough, or else the image itself.

            Examples:
              syncagent path https://example.com/mail.png
              display "$(syncagent path --app Mail)"

            Exit code 1: there is no image.
            """)

    @Argument(help: "The URL, spelled as in the app list.", completion: .offered(\.readyIcons))
    var url: IconURL?

    @Option(help: ArgumentHelp("The name of an app, in place of a URL.", valueName: "name"))
    var app: String?

    @Option(
        help: ArgumentHelp("The list of the app, by default all.", valueName: "list"),
        completion: .offered(\.listsAndPins))
    var list: ListName?

    @Option(help: ArgumentHelp("The size in pixels, 1 to 65535, or with a scale: 64@2.", valueName: "pixels"))
    var size: PixelCount?

    /// A number of pixels; also accepts a size as in `render.sizes`.
    struct PixelCount: ExpressibleByArgument {
        let pixels: Int

        init?(argument: String) {
            guard let pixels = Int(argument) ?? RenditionSize(argument)?.pixels, (1...65_535).contains(pixels) else {
                return nil
            }
            self.pixels = pixels
        }
    }

    @Flag(help: "Print the path of the present image, with a suffix such as .png.")
    var resolve = false

    @Flag(help: "Print one JSON document: the present image with its path, digest, type and size, and the stable path.")
    var json = false

    @OptionGroup var output: OutputOptions
    @OptionGroup var configuration: Configuration

    func validate() throws {
        guard (url == nil) != (app == nil) else { throw ValidationError("Give either a URL or --app with a name.") }
        guard list == nil || app != nil else { throw ValidationError("--list needs --app with a name.") }
    }

    func run() async throws {
        let cache = IconCache(at: try await configuration.cacheFolder())
        let app: AppListDocument.App
        do {
            app = try await entry(in: cache)
        } catch let error as IconCacheError {
            if case .unknownFormat = error { throw error }
            // A name in `by-url/` leads to an image, whatever became of the manifest.
            guard let url = self.url, !resolve, !json,
                let icon = try? cache.icon(for: url, pixels: size?.pixels ?? .max)
            else {
                throw error
            }
            Message.error("\(error)")
            return try Message.output(unescaped: icon.path.string)
        }
        let url = app.icon
        switch app.state {
        case .pending: throw Exit.because("\(shown(url)) has not been downloaded yet.")
        case .failed(let code):
            throw Exit.because(
                "\(shown(url)) could not be downloaded (\(code)). See: "
                    + configuration.command("syncagent why \(Suggestion.word(for: url, in: nil, of: cache.folder))"))
        case .ready(let original):
            let rendition = size.flatMap { size in app.renditions.first { $0.size.pixels >= size.pixels } }
            let image = rendition?.image ?? original
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
            let digest = Digest.of(url.text)
            let name = rendition.map { CacheLayout.bySize($0.size, digest) } ?? CacheLayout.byURL(digest)
            // An export has no `by-size/` names.
            let stable = cache.folder.appending(name)
            let hasStable = access(stable.string, F_OK) == 0
            guard json else { return try Message.output(unescaped: (hasStable && !resolve ? stable : path).string) }
            try Message.output([
                "format": 1, "name": .string(orNull: app.name), "url": .text(url), "path": .string(path.string),
                "sha256": .string(image.sha256.hex),
                "bytes": .number(image.bytes), "type": .string(image.type), "width": .number(image.width),
                "height": .number(image.height), "previous": app.previous.map { .text($0.icon) } ?? .null,
                "stablePath": hasStable ? .string(stable.string) : .null,
            ])
        }
    }

    /// The entry of the app or URL on the command line.
    private func entry(in cache: IconCache) async throws -> AppListDocument.App {
        if let name = app { return try cache.app(named: name, in: list) }
        guard let url else { throw Exit.with(.usage) }
        // Resolve a URL shortened as in tables; any other URL is taken literally.
        let whole = try Suggestion.isShown(url) ? Suggestion.whole(url, in: cache.folder) ?? url : url
        guard let entry = try cache.entry(forIcon: whole) else {
            // A list that was not published yet may name it; where the lists cannot be read, the cache alone counts.
            if let found = try? await configuration.report(on: whole), !found.report.lists.isEmpty {
                throw Exit.because("\(shown(whole)) has not been published yet.")
            }
            throw Exit.because("No app list names \(shown(whole)).\(Suggestion.icon(for: whole, in: cache.folder))")
        }
        return entry
    }
}
