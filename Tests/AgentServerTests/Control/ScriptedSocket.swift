// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import Synchronization
import SystemPackage
import Testing

/// A Unix socket that answers each request with the same bytes, and then closes the connection.
final class ScriptedSocket: Sendable {
    /// What is written, one piece after the other.
    private let pieces: [[UInt8]]
    /// Whether nobody listens any more when the last connection is closed.
    private let endsWithAnswer: Bool
    private let listener: Mutex<CInt?>
    private let heads = Mutex<[String]>([])

    /// The heads of the requests that came in.
    var requests: [String] { heads.withLock(\.self) }

    /// Listens while the body runs.
    static func with(
        _ answer: String..., at path: FilePath, endsWithAnswer: Bool = false,
        _ body: (ScriptedSocket) async throws -> Void
    ) async throws {
        let socket = try ScriptedSocket(answer.map { Array($0.utf8) }, at: path, endsWithAnswer: endsWithAnswer)
        defer { socket.end() }
        try await body(socket)
    }

    private init(_ pieces: [[UInt8]], at path: FilePath, endsWithAnswer: Bool) throws {
        self.pieces = pieces
        self.endsWithAnswer = endsWithAnswer
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        try #require(descriptor >= 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.string.utf8) }
        let isBound = withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        try #require(isBound && listen(descriptor, 16) == 0)
        listener = Mutex(descriptor)
        let queue = DispatchQueue(label: "scripted socket")
        queue.async { [self] in serve(descriptor) }
    }

    private func serve(_ descriptor: CInt) {
        while true {
            let connection = accept(descriptor, nil, nil)
            guard connection >= 0 else { break }
            // Who only looks whether somebody listens sends nothing.
            if let head = Self.head(connection) {
                heads.withLock { $0.append(head) }
                for piece in pieces {
                    var rest = piece[...]
                    while !rest.isEmpty {
                        let count = rest.withUnsafeBytes {
                            send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                        }
                        guard count > 0 else { break }
                        rest.removeFirst(count)
                    }
                }
                if endsWithAnswer { end() }
            }
            close(connection)
        }
        close(descriptor)
    }

    private static func head(_ connection: CInt) -> String? {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(connection, &chunk, chunk.count)
            guard count > 0 else { return nil }
            bytes += chunk[..<count]
            let text = String(decoding: bytes, as: UTF8.self)
            if text.contains("\r\n\r\n") { return text }
        }
    }

    /// Has nobody listen any more.
    private func end() {
        guard let descriptor = listener.withLock({ $0.take() }) else { return }
        shutdown(descriptor, Int32(SHUT_RDWR))
    }
}
