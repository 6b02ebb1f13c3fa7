// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import FoundationEssentials
import Glibc
import LocalHTTP
import NIOCore
import NIOHTTP1
package import SystemPackage

package struct ControlClient: Sendable {
    /// The time limit for a response.
    private static let patience: TimeAmount = .seconds(10)
    /// The longest response accepted, in bytes.
    static let longest = 64 << 20

    private let socket: FilePath

    package init(socket: FilePath) {
        self.socket = socket
    }

    func last<Document: Decodable>(
        of type: Document.Type, from path: String, _ method: HTTPMethod = .GET, body: RequestDocument? = nil,
        until isLast: (Document) async throws -> Bool
    ) async throws -> Document? {
        var last: Document?
        // An agent that is ending may close the connection in the middle of a response.
        _ = try await unlessItEnds {
            try await ask(method, path, body: body) { connection in
                var line: [UInt8] = []
                while let buffer = try await connection.next() {
                    for byte in buffer.readableBytesView {
                        guard byte == UInt8(ascii: "\n") else {
                            line.append(byte)
                            continue
                        }
                        let document = try JSONDecoder().decode(type, untrusted: Data(line))
                        last = document
                        if try await isLast(document) { return }
                        line.removeAll(keepingCapacity: true)
                    }
                }
            }
        }
        return last
    }

    /// - Returns: `nil` if no agent answers, or it ended meanwhile.
    func unlessItEnds<Answer>(_ ask: () async throws -> Answer) async throws -> Answer? {
        guard isAnswered else { return nil }
        do {
            return try await ask()
        } catch let error as Unexpected where error.status == 503 && error.code != APIError.busy.code {
            // The agent's loop has ended, and its socket is about to be removed.
            return nil
        } catch {
            guard isAnswered else { return nil }
            throw error
        }
    }

    func decoded<Answer: Decodable>(
        _ type: Answer.Type, from path: String, _ method: HTTPMethod = .GET, body: RequestDocument? = nil
    ) async throws -> Answer {
        try await ask(method, path, body: body) { connection in
            try JSONDecoder().decode(type, untrusted: Data(try await connection.rest(upTo: Self.longest)))
        }
    }

    /// Sends a request over a new connection, and passes the connection to `read` if the status is 200.
    ///
    /// Retries while the backlog of the socket is full (EAGAIN).
    func ask<Answer>(
        _ method: HTTPMethod, _ path: String, fields: [(String, String)] = [], body: RequestDocument? = nil,
        _ read: (inout LocalConnection) async throws -> Answer
    ) async throws -> Answer {
        let end = NIODeadline.now() + Self.patience
        while true {
            do {
                return try await askOnce(method, path, fields: fields, body: body, read)
            } catch let error as IOError where error.errnoCode == EAGAIN {
                guard NIODeadline.now() < end else {
                    throw Unexpected(status: 503, code: APIError.busy.code, reason: APIError.busy.message)
                }
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    private func askOnce<Answer>(
        _ method: HTTPMethod, _ path: String, fields: [(String, String)], body: RequestDocument?,
        _ read: (inout LocalConnection) async throws -> Answer
    ) async throws -> Answer {
        try await LocalConnection.open(to: .socket(socket.string)) { connection in
            let content = try body.map { Array(try JSONEncoder().encode($0)) }
            let head: HTTPResponseHead
            do {
                head = try await connection.ask(
                    method, "/v1/" + path,
                    fields: fields + (content == nil ? [] : [("content-type", "application/json")]), body: content,
                    patience: Self.patience)
            } catch let failure as LocalConnection.Failure {
                throw NoAnswer(reason: "\(failure)")
            }
            guard head.status == .ok else {
                let text = try? await connection.rest(upTo: 1 << 16)
                let document = text.flatMap { try? JSONDecoder().decode(Refusal.self, untrusted: Data($0)) }
                throw Unexpected(
                    status: head.status.code, code: document?.error.code, reason: document?.error.message)
            }
            return try await read(&connection)
        }
    }

    private struct Refusal: Decodable {
        struct Reason: Decodable {
            var code: String?
            var message: String
        }
        var error: Reason
    }

    /// A process listens at the socket, but did not answer.
    package struct NoAnswer: Error, CustomStringConvertible {
        var reason: String
        package var description: String { reason }
    }

    /// The agent refused the request, or failed.
    package struct Unexpected: Error, CustomStringConvertible {
        package var status: UInt
        /// A stable code, such as `forbidden`.
        package var code: String?
        /// A sentence; `nil` if the agent sends none, as another version may.
        package var reason: String?

        package var isBusy: Bool { code == APIError.busy.code }

        package var description: String {
            reason.map { "The agent refused the request: \($0)" }
                ?? "The agent answered with status \(status): it may be another version than this program. Restart it."
        }
    }

    /// Whether a process listens at the socket, even with a full backlog.
    var isAnswered: Bool { obstacle == nil }

    /// Why connecting to the socket fails; `nil` if a process listens.
    package var obstacle: Errno? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = Array(socket.string.utf8)
        guard path.count < MemoryLayout.size(ofValue: address.sun_path) else { return .fileNameTooLong }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        let descriptor = Glibc.socket(
            AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { return Errno(rawValue: errno) }
        defer { close(descriptor) }
        return withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                let isConnected = connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
                return isConnected || errno == EAGAIN ? nil : Errno(rawValue: errno)
            }
        }
    }
}
