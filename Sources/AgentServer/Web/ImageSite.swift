// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Hummingbird
import ImageChecks
import NIOCore
import Reports
import SyncAgent
import SyncPlan
import SystemPackage

/// Serves images of the cache, by icon URL or by digest, and nothing else.
struct ImageSite: Sendable {
    /// The pages that may show the images.
    enum Audience: String {
        case sameOrigin = "same-origin"
        case everybody = "cross-origin"

        /// Images that may need the dashboard's token must not get into shared caches.
        var cacheability: String { self == .everybody ? "public" : "private" }
    }

    let reader: ImageReader
    let agent: RunningAgent
    let audience: Audience
    /// The image that is served for a missing one if the request asks for a placeholder; `nil` if there is none.
    var placeholder: FilePath?

    static func isImage(_ path: String) -> Bool {
        path == "/icons" || path.starts(withBytes: "/icons/") || path.starts(withBytes: "/by-url/")
    }

    func respond(to request: Request) async -> Response {
        var response = await request.reading { await answer(request) }
        response.headers[.resourcePolicy] = audience.rawValue
        // A drawing (SVG) that is opened as a page must not run scripts.
        response.headers[.contentSecurityPolicy] = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
        response.headers[.xContentTypeOptions] = "nosniff"
        response.headers[.referrerPolicy] = "no-referrer"
        return response
    }

    private func answer(_ request: Request) async -> Response {
        let path = request.uri.path
        if path == "/icons" {
            guard let query = try? request.query(["url", "size", "placeholder"]), let url = query["url"], !url.isEmpty
            else {
                return .refusal(.badRequest, "no-url", "Name the icon: /icons?url=URL, with the URL percent-encoded.")
            }
            let icon = IconURL(url)
            var name = ImageReader.Name.url(.of(icon.text))
            if let size = query["size"] {
                guard let pixels = Int(size), (1...65_535).contains(pixels) else {
                    return .refusal(.badRequest, "no-size", "The size is a number of pixels: /icons?url=URL&size=64.")
                }
                name = .sized(.of(icon.text), pixels: pixels)
            }
            return await send(name, to: request) {
                if query["placeholder"] != nil, let placeholder {
                    return await send(.placeholder(placeholder), to: request) { await absence(of: icon) }
                }
                return await absence(of: icon)
            }
        }
        guard let name = Self.name(path) else {
            return .refusal(
                .notFound, "no-such-path",
                "Images are at /icons?url=URL, /icons?url=URL&size=PIXELS&placeholder=, /by-url/SHA256 and /icons/AB/SHA256.EXT."
            )
        }
        return await send(name, to: request) {
            switch name {
            case .url, .sized:
                .refusal(
                    .notFound, "no-image",
                    "No icon with this URL has an image on disk. GET /icons?url=URL shows why one is missing.")
            case .image, .placeholder: .refusal(.notFound, "no-image", "No image with this digest is on disk.")
            }
        }
    }

    /// Parses a path; only digests and known suffixes are accepted.
    static func name(_ path: String) -> ImageReader.Name? {
        let parts = path.split(atByte: "/", omittingEmpty: false).dropFirst()
        switch (parts.first, parts.count) {
        case ("by-url", 2), ("by-url", 3):
            guard let digest = parts.last.flatMap({ Digest(hex: $0) }),
                parts.count == 2 || parts[2] == digest.hex.prefix(2)
            else { return nil }
            return .url(digest)
        case ("icons", 3):
            let file = parts[3].split(atByte: ".", maxSplits: 1, omittingEmpty: false)
            guard file.count == 2, let digest = Digest(hex: file[0]), parts[2] == digest.hex.prefix(2),
                let type = ImageType.allCases.first(where: { $0.suffix == file[1] })
            else { return nil }
            return .image(digest, type)
        default: return nil
        }
    }

    private func send(
        _ name: ImageReader.Name, to request: Request, else absence: () async -> Response
    ) async -> Response {
        do {
            guard let file = try await reader.open(name) else { return await absence() }
            let isFixed = if case .image = name { true } else { false }
            return response(to: request, file, isFixed: isFixed)
        } catch {
            return .refusal(.internalServerError, "unreadable", "The image cannot be read: \(error).")
        }
    }

    private func response(to request: Request, _ file: ImageFile, isFixed: Bool) -> Response {
        let tag = "\"\(file.digest.hex)\""
        var headers: HTTPFields = [
            .eTag: tag, .acceptRanges: "bytes",
            // A refresh may replace the image of a URL: the client revalidates, and gets a 304.
            .cacheControl: isFixed ? "\(audience.cacheability), max-age=31536000, immutable" : "no-cache",
        ]
        guard Revalidation.isMatch(request.headers[.ifMatch], tag: tag) else {
            return .refusal(.preconditionFailed, "changed", "The image is another one now.", [.eTag: tag])
        }
        if Revalidation.isCurrent(request.headers[.ifNoneMatch], tag: tag) {
            return Response(status: .notModified, headers: headers)
        }
        headers[.contentType] = file.mediaType
        let range = request.method == .get ? request.headers[.range] : nil
        switch ByteRange(range, if: request.headers[.ifRange], tag: tag, length: file.length) {
        case .unsatisfiable:
            return .refusal(
                .rangeNotSatisfiable, "range", "The image has \(file.length) bytes.",
                [.contentRange: "bytes */\(file.length)"])
        case .whole: return Response(status: .ok, headers: headers, body: body(file, 0..<file.length))
        case .part(let part):
            headers[.contentRange] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(file.length)"
            return Response(status: .partialContent, headers: headers, body: body(file, part))
        }
    }

    /// Sends a part of a file in chunks, each after the client has taken the one before.
    private func body(_ file: ImageFile, _ range: Range<Int>) -> ResponseBody {
        ResponseBody(contentLength: range.count) { [reader] writer in
            var offset = range.lowerBound
            while offset < range.upperBound {
                let count = min(ImageReader.chunk, range.upperBound - offset)
                guard let bytes = await reader.read(file, from: offset, count: count), !bytes.isEmpty else {
                    // The head has been sent already: only a closed connection can tell the client that the read
                    // failed.
                    throw ChannelError.inputClosed
                }
                try await writer.write(ByteBuffer(bytes: bytes))
                offset += bytes.count
            }
            try await writer.finish(nil)
        }
    }

    private func absence(of url: IconURL) async -> Response {
        guard let known = await agent.ask({ [now = agent.now] in $0.report(on: url, now: now) }) else {
            return .refusal(.serviceUnavailable, "stopping", "The agent is stopping.")
        }
        guard let report = known else {
            return .refusal(.notFound, "unknown-url", "No app list names this URL. It must be spelled as in the list.")
        }
        switch (report.state.known, report.failure) {
        // The server's own message is shown only to users with access to the agent, by `syncagent why`.
        case (.failed, let failure?):
            return .refusal(.notFound, failure.code, "The download failed. Run syncagent why with the URL.")
        case (.retired, _): return .refusal(.notFound, "retired", "The icon is retired: no list names it.")
        default: return .refusal(.notFound, "pending", "The icon is not on disk yet.")
        }
    }
}
