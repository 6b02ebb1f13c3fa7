// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
import FoundationEssentials
import Glibc
import LocalHTTP
import NIOCore
import NIOHTTP1
package import SyncPlan
package import SystemPackage

/// Asks a running agent.
package struct ControlClient: Sendable {
    /// How long an answer may take.
    private static let patience: TimeAmount = .seconds(10)
    /// The longest answer that is read, in bytes.
    private static let longest = 64 << 20

    private let socket: FilePath

    package init(socket: FilePath) {
        self.socket = socket
    }

    /// The agent's status; `nil` if no agent answers.
    package func status() async throws -> StatusReport? {
        try await unlessItEnds {
            try await decoded(StatusReport.self, from: "v1/status")
        }
    }

    /// Everything that the agent knows of one URL.
    ///
    /// - Returns: `nil` if no agent answers; `.some(nil)` if it does not know the URL.
    package func report(on url: IconURL) async throws -> IconReport?? {
        try await unlessItEnds {
            do {
                return try await decoded(IconReport.self, from: "v1/icon", method: .POST, body: url.text)
            } catch let error as Unexpected where [404, 413].contains(error.status) {
                // One that is too long for a request is too long for a list.
                return nil
            }
        }
    }

    /// Has the agent stop or go on starting downloads.
    ///
    /// - Returns: The status from then on; `nil` if no agent answers.
    package func pause(_ isPaused: Bool) async throws -> StatusReport? {
        try await unlessItEnds {
            try await decoded(StatusReport.self, from: isPaused ? "v1/pause" : "v1/resume", method: .POST)
        }
    }

    /// What goes and what stays: of one icon, or of all that no list names.
    ///
    /// - Returns: `nil` if no agent answers.
    package func evictionReport(on url: IconURL? = nil) async throws -> EvictionReport? {
        try await unlessItEnds {
            try await decoded(
                EvictionReport.self, from: "v1/eviction", method: url == nil ? .GET : .POST, body: url?.text)
        }
    }

    /// Has the agent remove what is retired without waiting for its grace.
    ///
    /// If `isConfirmed`, an eviction that is held goes on too. The answer is what stays then, and why; `nil` if no agent
    /// answers.
    package func evict(isConfirmed: Bool) async throws -> EvictionReport? {
        try await unlessItEnds {
            try await decoded(EvictionReport.self, from: "v1/evict?confirm=\(isConfirmed)", method: .POST)
        }
    }

    /// Has the agent fetch images again that are damaged on disk.
    ///
    /// - Returns: The status after that; `nil` if no agent answers.
    package func repair(_ images: Set<Digest>) async throws -> StatusReport? {
        try await unlessItEnds {
            let body = JSON.array(images.map { .string($0.hex) }).line
            return try await decoded(StatusReport.self, from: "v1/repair", method: .POST, body: body)
        }
    }

    /// Has the agent keep an icon although no list names it, or no more.
    ///
    /// - Returns: All that are kept so; `nil` if no agent answers.
    package func pin(_ url: IconURL, _ isPinned: Bool) async throws -> PinReport? {
        try await unlessItEnds {
            try await decoded(PinReport.self, from: isPinned ? "v1/pin" : "v1/unpin", method: .POST, body: url.text)
        }
    }

    /// Has the agent look at the lists folder.
    ///
    /// - Returns: The status; `nil` if no agent answers.
    package func sync() async throws -> StatusReport? {
        try await unlessItEnds { try await decoded(StatusReport.self, from: "v1/sync", method: .POST) }
    }

    /// The same, and how far the icons of some lists are, until nothing more comes for now.
    ///
    /// With no lists it waits for all of them.
    ///
    /// - Returns: The last report, which is not done if the agent ended before; `nil` if no agent answers.
    package func sync(waitingFor lists: [ListName], _ progress: (SyncReport) -> Void) async throws -> SyncReport? {
        let body = JSON.array(lists.map(JSON.text)).line
        return try await last(of: SyncReport.self, from: "v1/sync/stream", method: .POST, body: body) {
            progress($0)
            return false
        }
    }

    /// The agent's status now, and again whenever it has become another, until one is the last or the agent ends.
    ///
    /// - Returns: The last status; `nil` if no agent answers.
    package func status(until isLast: (StatusReport) async throws -> Bool) async throws -> StatusReport? {
        try await last(of: StatusReport.self, from: "v1/status/stream", until: isLast)
    }

    private func last<Document: Decodable>(
        of type: Document.Type, from path: String, method: HTTPMethod = .GET, body: String? = nil,
        until isLast: (Document) async throws -> Bool
    ) async throws -> Document? {
        var last: Document?
        // An agent that ends may close the connection in the middle of an answer.
        _ = try await unlessItEnds {
            try await ask(method, path, body: body) { connection in
                var line: [UInt8] = []
                while let buffer = try await connection.next() {
                    for byte in buffer.readableBytesView {
                        guard byte == UInt8(ascii: "\n") else {
                            line.append(byte)
                            continue
                        }
                        let document = try JSONDecoder().decode(type, from: Data(line))
                        last = document
                        if try await isLast(document) { return }
                        line.removeAll(keepingCapacity: true)
                    }
                }
            }
        }
        return last
    }

    /// - Returns: `nil` if no agent answers, or one that ended meanwhile.
    private func unlessItEnds<Answer>(_ ask: () async throws -> Answer) async throws -> Answer? {
        guard isAnswered else { return nil }
        do {
            return try await ask()
        } catch let error as Unexpected where error.status == 503 {
            // Its loop has ended, and the socket is about to go.
            return nil
        } catch {
            guard isAnswered else { return nil }
            throw error
        }
    }

    private func decoded<Answer: Decodable>(
        _ type: Answer.Type, from path: String, method: HTTPMethod = .GET, body: String? = nil
    ) async throws -> Answer {
        try await ask(method, path, body: body) { connection in
            try JSONDecoder().decode(type, from: Data(try await connection.rest(upTo: Self.longest)))
        }
    }

    /// Asks over a connection of its own, and hands it over when the agent does what it was asked to.
    private func ask<Answer>(
        _ method: HTTPMethod, _ path: String, body: String? = nil,
        _ read: (inout LocalConnection) async throws -> Answer
    ) async throws -> Answer {
        try await LocalConnection.open(to: .socket(socket.string)) { connection in
            let head = try await connection.ask(
                method, "/" + path, body: body.map { Array($0.utf8) }, patience: Self.patience)
            guard head.status == .ok else {
                let text = try? await connection.rest(upTo: 1 << 16)
                let document = text.flatMap { try? JSONDecoder().decode(Refusal.self, from: Data($0)) }
                throw Unexpected(status: head.status.code, reason: document?.error.message)
            }
            return try await read(&connection)
        }
    }

    /// How the server says why it refuses a request.
    private struct Refusal: Decodable {
        struct Reason: Decodable { var message: String }
        var error: Reason
    }

    /// The agent did not do what it was asked to.
    package struct Unexpected: Error, CustomStringConvertible {
        var status: UInt
        /// What is wrong with the request, as a clause; `nil` if the agent does not say: it may be of another version.
        package var reason: String?

        package var description: String {
            reason.map { "The agent refused the request: \($0)." }
                ?? "The agent answered with status \(status): it may be another version than this program. Restart it."
        }
    }

    /// Whether a process listens there; one whose queue of connections is full does.
    var isAnswered: Bool { obstacle == nil }

    /// Why there is nobody to be asked there; `nil` if a process listens.
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
