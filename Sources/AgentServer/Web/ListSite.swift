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
        switch await reader.list(name) {
        case .success(let (digest, json)?): return document(json, tag: "\"\(digest.hex)\"", for: request)
        case .success(nil): return .refusal(.notFound, "no-such-list", "No app list of this name is published.")
        case .failure(let error): return .refusal(.serviceUnavailable, "unreadable", "\(error)")
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
            return document(bytes, tag: "\"\(Digest.of(bytes).hex)\"", for: request)
        case .failure(let error): return .refusal(.serviceUnavailable, "unreadable", "\(error)")
        }
    }

    private func document(_ json: [UInt8], tag: String, for request: Request) -> Response {
        let headers: HTTPFields = [.eTag: tag, .cacheControl: "no-cache"]
        if Revalidation.isCurrent(request.headers[.ifNoneMatch], tag: tag) {
            return Response(status: .notModified, headers: headers)
        }
        var response = Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: json)))
        response.headers[.contentType] = "application/json"
        return response
    }
}
