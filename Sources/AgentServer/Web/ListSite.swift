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
    /// Limits the bytes of documents that clients have not read yet.
    var memory = Allowance.memory

    static var unreadable: Response {
        .refusal(.serviceUnavailable, "unreadable", "The cache cannot be read: syncagent status says why.")
    }

    static func isList(_ path: String) -> Bool { path == "/lists" || path.starts(withBytes: "/lists/") }

    func respond(to request: Request) async -> Response {
        var response = await request.reading {
            do {
                return try await answer(request)
            } catch let error as APIError {
                return .refusal(error)
            } catch {
                return Self.unreadable
            }
        }
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
        return response
    }

    private func answer(_ request: Request) async throws -> Response {
        let known = request.headers[.ifNoneMatch]
        let isCurrent: @Sendable (Digest) -> Bool = { Revalidation.isCurrent(known, tag: Self.tag($0)) }
        let parts = request.uri.path.split(atByte: "/", omittingEmpty: false).dropFirst(2)
        if parts.isEmpty {
            let index = try await index()
            let digest = Digest.of(index)
            return try document(isCurrent(digest) ? nil : index, digest)
        }
        guard parts.count == 1, let part = parts.first, let bytes = PercentEncoding.decode(Substring(part).utf8),
            let file = String(validating: bytes, as: UTF8.self), file.ends(withBytes: ".json")
        else {
            return .refusal(.notFound, "no-such-path", "Lists are at /lists and /lists/NAME.json.")
        }
        let name = ListName(String(decoding: file.utf8.dropLast(".json".utf8.count), as: UTF8.self))
        guard let (digest, json) = try await reader.list(name, unless: isCurrent) else {
            return .refusal(.notFound, "no-such-list", "No app list of this name is published.")
        }
        return try document(json, digest)
    }

    private func index() async throws -> [UInt8] {
        let members: [JSON] = try await reader.lists().map { name, list in
            [
                "name": .string(name.text), "apps": .number(list.apps), "ready": .number(list.ready),
                "pending": .number(list.pending), "failed": .number(list.failed),
            ]
        }
        let json: JSON = ["format": 1, "lists": .lines(.array(members))]
        return Array((json.text + "\n").utf8)
    }

    private static func tag(_ digest: Digest) -> String { "\"\(digest.hex)\"" }

    /// Without a document, the client has it.
    private func document(_ json: [UInt8]?, _ digest: Digest) throws(APIError) -> Response {
        let headers: HTTPFields = [.eTag: Self.tag(digest), .cacheControl: "no-cache"]
        guard let json else { return Response(status: .notModified, headers: headers) }
        var response = Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: json)))
        response.headers[.contentType] = "application/json"
        return try memory.count(response, as: json.count)
    }
}
