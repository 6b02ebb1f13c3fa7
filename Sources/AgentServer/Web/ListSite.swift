// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Hummingbird
import NIOCore

/// Serves the documents of lists, for web pages that show all apps of a list.
struct ListSite: Sendable {
    let reader: ImageReader
    /// The origins of the pages whose scripts may read lists; `*` is any, and `null` a page that was opened from disk.
    let origins: [String]

    static func isList(_ path: String) -> Bool { path == "/lists" || path.starts(withBytes: "/lists/") }

    func respond(to request: Request) async -> Response {
        var response = await answer(request)
        response.headers[.resourcePolicy] = ImageSite.Audience.sameOrigin.rawValue
        response.headers[.xContentTypeOptions] = "nosniff"
        if origins.contains("*") {
            response.headers[.accessControlAllowOrigin] = "*"
        } else if !origins.isEmpty {
            response.headers[.vary] = "Origin"
            if let origin = request.headers[.origin], origins.contains(origin) {
                response.headers[.accessControlAllowOrigin] = origin
            }
        }
        return request.method == .head ? response.withoutBody : response
    }

    private func answer(_ request: Request) async -> Response {
        guard request.method == .get || request.method == .head else {
            return .refusal(.methodNotAllowed, "method-not-allowed", "Use GET or HEAD.", [.allow: "GET, HEAD"])
        }
        let parts = request.uri.path.split(atByte: "/", omittingEmpty: false).dropFirst(2)
        if parts.isEmpty { return await index(request) }
        guard parts.count == 1, let part = parts.first, let bytes = PercentEncoding.decode(Substring(part).utf8),
            let file = String(validating: bytes, as: UTF8.self), file.ends(withBytes: ".json")
        else {
            return .refusal(.notFound, "no-such-path", "Lists are at /lists and /lists/NAME.json.")
        }
        let name = ListName(String(decoding: file.utf8.dropLast(".json".utf8.count), as: UTF8.self))
        let known = request.headers[.ifNoneMatch]
        switch await reader.list(name, unless: { Revalidation.isCurrent(known, tag: Self.tag($0)) }) {
        case .success(let (digest, json)?): return document(json, tag: Self.tag(digest))
        case .success(nil): return .refusal(.notFound, "no-such-list", "No app list of this name is published.")
        case .failure: return Self.unreadable
        }
    }

    private func index(_ request: Request) async -> Response {
        switch await reader.lists() {
        case .success(let lists):
            let members: [JSON] = lists.map { name, list in
                [
                    "name": .string(name.text), "apps": .number(list.apps), "ready": .number(list.ready),
                    "pending": .number(list.pending), "failed": .number(list.failed),
                ]
            }
            let json: JSON = ["format": 1, "lists": .lines(.array(members))]
            let bytes = Array((json.text + "\n").utf8)
            let tag = Self.tag(.of(bytes))
            return document(Revalidation.isCurrent(request.headers[.ifNoneMatch], tag: tag) ? nil : bytes, tag: tag)
        case .failure: return Self.unreadable
        }
    }

    private static let unreadable = Response.refusal(
        .serviceUnavailable, "unreadable", "The cache cannot be read: syncagent status says why.")

    private static func tag(_ digest: Digest) -> String { "\"\(digest.hex)\"" }

    /// Without a document, the client has it.
    private func document(_ json: [UInt8]?, tag: String) -> Response {
        let headers: HTTPFields = [.eTag: tag, .cacheControl: "no-cache"]
        guard let json else { return Response(status: .notModified, headers: headers) }
        var response = Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: json)))
        response.headers[.contentType] = "application/json"
        return response
    }
}
