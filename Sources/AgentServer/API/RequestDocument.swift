// SPDX-License-Identifier: Apache-2.0
import AppLists
package import CacheFormat
import FoundationEssentials
import Hummingbird
import NIOCore

/// The JSON object in a request's body; an empty body counts as an empty object.
///
/// Each route refuses members that it does not know: to ignore a misspelt one could do something unintended.
package struct RequestDocument: Codable, Equatable, Sendable {
    package var url: IconURL?
    package var list: ListName?
    package var urls: [IconURL]?
    package var lists: [ListName]?
    package var images: [String]?
    package var failed: Bool?
    /// Whether a refresh downloads without conditions.
    package var full: Bool?
    package var confirm: Bool?
    /// How long a pause or a mute lasts, such as `8h`.
    package var `for`: String?
    package var reason: String?
}

extension RequestDocument {
    /// The longest body, in bytes: enough for 250,000 digests.
    static let longest = 16 << 20
    /// The longest body that has one URL, in bytes: every character may be escaped.
    private static let longestURL = 6 * AppEntry.maxIconBytes

    /// Reads the body of a request, which must not have a query.
    ///
    /// - Throws: ``APIError`` if the body is too long, arrives too slowly, is not an object, or has other members than
    ///   `members`.
    init(_ request: Request, _ members: Set<Member>) async throws {
        _ = try request.query([])
        let limit = members == [.url] ? Self.longestURL : Self.longest
        // Refuses a long body before reading it, if its length is declared.
        if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > limit {
            throw APIError.tooLarge("The request", limit: limit)
        }
        let body: ByteBuffer
        do {
            body = try await request.body.collect(upTo: limit)
        } catch is NIOTooManyBytesError {
            throw APIError.tooLarge("The request", limit: limit)
        }
        try self.init(Data(body.readableBytesView), members)
    }

    init(_ body: Data, _ members: Set<Member>) throws(APIError) {
        self.init()
        guard !body.isEmpty else { return }
        let expected = members.map(\.rawValue).sorted().map { "“\($0)”" }.joined(separator: ", ")
        do {
            let found = try JSONDecoder().decode([String: AnyValue].self, untrusted: body).keys
            if let other = found.first(where: { name in !members.contains { $0.rawValue == name } }) {
                let advice = members.isEmpty ? "send no body" : "use \(expected)"
                throw APIError.badRequest("The request has an unknown member “\(other.prefix(bytes: 64))”: \(advice).")
            }
            self = try JSONDecoder().decode(Self.self, untrusted: body)
        } catch let error as APIError {
            throw error
        } catch {
            throw .badRequest(
                members.isEmpty
                    ? "The request is not a JSON object: send no body."
                    : "The request is not a JSON object with the members \(expected) in their types.")
        }
    }

    enum Member: String, Sendable { case url, list, urls, lists, images, failed, full, confirm, `for`, reason }

    /// A value of any type but `null`.
    private struct AnyValue: Decodable {
        init(from decoder: any Decoder) throws {
            guard try !decoder.singleValueContainer().decodeNil() else {
                throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "null"))
            }
        }
    }
}

extension Request {
    /// The URL in the query, or in the body of a POST.
    ///
    /// - Throws: ``APIError`` if there is no URL, or it is longer than any in an app list can be.
    func iconURL() async throws -> IconURL {
        if method == .post {
            guard let url = try await RequestDocument(self, [.url]).url else {
                throw APIError.badRequest("The request names no URL: send {\"url\": \"https://…\"}.")
            }
            return try Self.checked(url)
        }
        guard let url = try query(["url"])["url"] else {
            throw APIError.badRequest("The request names no URL: add ?url=… to the path, percent-encoded.")
        }
        return try Self.checked(IconURL(url))
    }

    private static func checked(_ url: IconURL) throws -> IconURL {
        guard url.text.utf8.count <= AppEntry.maxIconBytes else {
            throw APIError.tooLarge("The URL", limit: AppEntry.maxIconBytes)
        }
        return url
    }

    /// The parameters of the query, each at most once.
    ///
    /// - Throws: ``APIError`` for an unknown or repeated parameter, or one that is not percent-encoded UTF-8.
    func query(_ names: Set<String>) throws -> [String: String] {
        var values: [String: String] = [:]
        for part in (uri.query ?? "").split(atByte: "&") {
            let pair = part.split(atByte: "=", maxSplits: 1, omittingEmpty: false)
            guard let name = Self.decoded(pair[0]), let value = Self.decoded(pair.count > 1 ? pair[1] : "") else {
                throw APIError.badRequest("The query is not percent-encoded UTF-8.")
            }
            guard names.contains(name) else {
                let known = names.isEmpty ? "this path takes none" : "use \(names.sorted().joined(separator: ", "))"
                throw APIError.badRequest("The query has an unknown parameter “\(name.prefix(bytes: 64))”: \(known).")
            }
            guard values.updateValue(value, forKey: name) == nil else {
                throw APIError.badRequest("The query has the parameter “\(name)” twice.")
            }
        }
        return values
    }

    /// Decodes a name or value of the query; as in forms, a plus is a space.
    private static func decoded(_ text: String) -> String? {
        let text = text.replacing(bytes: "+", with: " ")
        return PercentEncoding.decode(text[...].utf8).flatMap { String(validating: $0, as: UTF8.self) }
    }
}

extension [String: String] {
    /// The whole number that a parameter of the query gives; `nil` if it is missing.
    ///
    /// - Throws: ``APIError`` if the parameter is no number in the range.
    func number(_ name: String, in range: ClosedRange<Int> = 0...1 << 53) throws -> Int? {
        guard let text = self[name] else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw APIError.badRequest(
                "\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }
}
