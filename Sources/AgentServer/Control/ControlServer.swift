// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import FoundationEssentials
import Glibc
import Hummingbird
import LocalHTTP
package import Logging
import NIOCore
package import SyncAgent
import SyncPlan
package import SystemPackage

/// Answers on the control socket.
package struct ControlServer: Sendable {
    let path: FilePath
    /// The most clients at once: others wait until one is gone.
    let clients: Int
    private let logger: Logger
    let agent: RunningAgent
    let board: StatusBoard
    /// What would be evicted.
    private let eviction: SharedAnswer<EvictionReport?>

    /// Makes ready to listen on a socket.
    ///
    /// - Parameters:
    ///   - path: The socket.
    ///   - clients: The most clients at once.
    ///   - logger: Where troubles of the server go.
    ///   - agent: What is asked, and told.
    /// - Throws: ``InUse`` if another agent answers there, or a ``FileError``.
    package init(at path: FilePath, clients: Int, logger: Logger, agent: RunningAgent) throws {
        let folder = path.removingLastComponent()
        try AgentFolders.make(folder, mode: [.ownerReadWriteExecute])
        try FolderTrust.checkSocketFolder(folder)
        guard path.string.utf8.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path) else {
            throw FileError("listen on", path.string, .fileNameTooLong)
        }
        var entry = stat()
        if lstat(path.string, &entry) == 0 {
            guard entry.st_mode & S_IFMT == S_IFSOCK else { throw FileError("listen on", path.string, .fileExists) }
            if ControlClient(socket: path).isAnswered { throw InUse(path: path) }
            unlink(path.string)
        }
        self.path = path
        self.clients = clients
        self.logger = logger
        self.agent = agent
        board = StatusBoard(agent)
        eviction = SharedAnswer { await agent.evictionReport() }
    }

    /// Answers until the task is cancelled.
    package func run() async throws {
        let router = Router()
        router.get("v1/status/stream") { _, _ in
            Response(
                status: .ok, headers: [.contentType: "application/x-ndjson"],
                body: ResponseBody { writer in
                    try await streamStatus(to: &writer)
                    try await writer.finish(nil)
                })
        }
        router.post("v1/sync") { _, _ in
            agent.lookAgain()
            return try Self.answer(await board.text())
        }
        router.post("v1/sync/stream") { request, _ in
            let lists = Set(try await Self.texts(in: request).map(ListName.init)).sorted()
            return Response(
                status: .ok, headers: [.contentType: "application/x-ndjson"],
                body: ResponseBody { writer in
                    try await streamSync(of: lists, to: &writer)
                    try await writer.finish(nil)
                })
        }
        router.get("v1/status") { _, _ in try Self.answer(await board.text()) }
        router.post("v1/icon") { request, _ in
            let url = try await Self.url(in: request)
            guard let report = await agent.report(on: url) else { return try Self.answer(String?.none) }
            guard let report else { throw HTTPError(.notFound) }
            return try Self.answer(report.json)
        }
        for (name, isPaused) in [("pause", true), ("resume", false)] {
            router.post("v1/\(name)") { _, _ in
                agent.setPaused(isPaused)
                return try Self.answer(await board.text())
            }
        }
        router.get("v1/eviction") { _, _ in try Self.answer(await eviction.get()?.json) }
        router.post("v1/eviction") { request, _ in
            let url = try await Self.url(in: request)
            return try Self.answer(await agent.evictionReport(on: url)?.json)
        }
        router.post("v1/evict") { request, _ in
            let isConfirmed = request.uri.queryParameters.get("confirm") == "true"
            await agent.evict(isConfirmed: isConfirmed)
            return try Self.answer(await eviction.get()?.json)
        }
        router.post("v1/repair") { request, _ in
            let suspects = try await Self.texts(in: request).map { text in
                guard let digest = Digest(hex: text) else {
                    throw Self.refusal("“\(text.prefix(64))” is not a SHA-256 digest")
                }
                return digest
            }
            await agent.recheck(Set(suspects))
            return try Self.answer(await board.text())
        }
        for (name, isPinned) in [("pin", true), ("unpin", false)] {
            router.post("v1/\(name)") { request, _ in
                let url = try await Self.url(in: request)
                if isPinned, let flaw = await agent.flaw(inPin: url) {
                    throw Self.refusal("the URL cannot be pinned: \(flaw)")
                }
                return try Self.answer(await agent.pin(url, isPinned)?.json)
            }
        }
        var quiet = logger
        quiet.logLevel = .warning
        let socket = BoundSocket(at: path)
        defer { socket.remove() }
        do {
            let service = try service(router, socket: socket, logger: quiet)
            try await withTaskCancellationHandler {
                try await LocalServer.run(service, patience: .milliseconds(500), logger: quiet)
            } onCancel: {
                socket.remove()
            }
        } catch let error as IOError {
            throw FileError("listen on", path.string, Errno(rawValue: error.errnoCode))
        }
    }

    /// The longest request, in bytes: it names a quarter of a million images.
    private static let longestRequest = 16 << 20

    /// The URL that a request is about: one may be too long for a query.
    private static func url(in request: Request) async throws -> IconURL {
        let body = try await request.body.collect(upTo: AppEntry.maxIconBytes)
        guard let url = String(validating: body.readableBytesView, as: UTF8.self) else {
            throw refusal("the URL is not UTF-8")
        }
        return IconURL(url)
    }

    /// The names that a request is about, as a JSON array: there is no character that a list's name cannot have.
    private static func texts(in request: Request) async throws -> [String] {
        let body = try await request.body.collect(upTo: longestRequest)
        do {
            return try JSONDecoder().decode([String].self, from: Data(body.readableBytesView))
        } catch {
            throw refusal("the request is not a JSON array of strings")
        }
    }

    /// Whoever asks may be anybody: what a request says is judged here, whatever its sender has made sure of.
    private static func refusal(_ reason: String) -> HTTPError { HTTPError(.badRequest, message: reason) }

    private static func answer(_ json: JSON?) throws -> Response { try answer(json.map { $0.text + "\n" }) }

    /// - Throws: What says that the agent is about to end, if there is no answer.
    private static func answer(_ text: String?) throws -> Response {
        guard let text else { throw HTTPError(.serviceUnavailable) }
        return Response(
            status: .ok, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    /// Another agent answers at the socket.
    package struct InUse: Error, CustomStringConvertible {
        var path: FilePath
        package var description: String {
            "Another agent answers at \(path): stop it, or choose another socket with --socket."
        }
    }
}
