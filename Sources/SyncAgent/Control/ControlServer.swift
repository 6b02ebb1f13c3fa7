// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import FoundationEssentials
import Glibc
import Hummingbird
import LocalHTTP
import Logging
import NIOCore
import SyncPlan
import SystemPackage

/// Answers on the control socket.
package struct ControlServer: Sendable {
    let path: FilePath
    /// The most clients at once: others wait until one is gone.
    let clients: Int
    private let logger: Logger
    let loop: AgentLoop
    let lists: ListService
    let scrubber: Scrubber
    let board: StatusBoard
    /// What would be evicted.
    private let eviction: SharedAnswer<EvictionReport?>

    /// Makes ready to listen on a socket.
    ///
    /// - Parameters:
    ///   - path: The socket.
    ///   - clients: The most clients at once.
    ///   - logger: Where troubles of the server go.
    ///   - loop: What is asked, and told.
    ///   - lists: What looks at the lists folder.
    ///   - scrubber: What reads images that are said to be damaged.
    /// - Throws: ``InUse`` if another agent answers there, or a ``FileError``.
    init(
        at path: FilePath, clients: Int, logger: Logger, loop: AgentLoop, lists: ListService, scrubber: Scrubber
    ) throws {
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
        self.loop = loop
        self.lists = lists
        self.scrubber = scrubber
        board = StatusBoard(loop, lists)
        eviction = SharedAnswer { await loop.evictionReport() }
    }

    /// Answers until the task is cancelled.
    func run() async throws {
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
            lists.lookAgain()
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
            guard let report = await loop.report(on: url) else { throw HTTPError(.notFound) }
            return try Self.answer(report.json)
        }
        for (name, isPaused) in [("pause", true), ("resume", false)] {
            router.post("v1/\(name)") { _, _ in
                loop.post(.paused(isPaused))
                return try Self.answer(await board.text())
            }
        }
        router.get("v1/eviction") { _, _ in try Self.answer(await eviction.get()?.json) }
        router.post("v1/eviction") { request, _ in
            let url = try await Self.url(in: request)
            return try Self.answer(await loop.evictionReport(on: url)?.json)
        }
        router.post("v1/evict") { request, _ in
            let isConfirmed = request.uri.queryParameters.get("confirm") == "true"
            await loop.post(
                .evict(isConfirmed: isConfirmed), andWaitUntil: { $0.isEvictionSettled(at: loop.now) },
                atMost: Self.patience)
            return try Self.answer(await eviction.get()?.json)
        }
        router.post("v1/repair") { request, _ in
            let suspects = try await Self.texts(in: request).map { text in
                guard let digest = Digest(hex: text) else {
                    throw Self.refusal("“\(text.prefix(64))” is not a SHA-256 digest")
                }
                return digest
            }
            await recheck(Set(suspects))
            return try Self.answer(await board.text())
        }
        for (name, isPinned) in [("pin", true), ("unpin", false)] {
            router.post("v1/\(name)") { request, _ in
                let url = try await Self.url(in: request)
                if isPinned, let flaw = await loop.ask({ $0.flaw(inPin: url) }) ?? nil {
                    throw Self.refusal("the URL cannot be pinned: \(flaw)")
                }
                await loop.post(
                    .pin(url: url, isPinned: isPinned),
                    andWaitUntil: {
                        $0.arePinsPublished && !(isPinned && $0.isComing(url)) || $0.pinReport.error != nil
                    },
                    atMost: Self.patience)
                return try Self.answer(await loop.ask(\.pinReport)?.json)
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

    /// How long an answer may wait for what was asked for; clients wait a little longer.
    private static let patience: Duration = .seconds(8)

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

    /// Has images fetched again that are damaged, if they are: whoever says so may be wrong.
    ///
    /// To read them all may take longer than the answer may wait.
    private func recheck(_ suspects: Set<Digest>) async {
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        Task { [loop, scrubber] in
            if await scrubber.read(suspects, report: { loop.post(.damaged($0)) }) { loop.post(.suspected) }
            end.finish()
        }
        await wait(atMost: Self.patience) { for await _ in ended {} }
    }

    /// Another agent answers at the socket.
    package struct InUse: Error, CustomStringConvertible {
        var path: FilePath
        package var description: String {
            "Another agent answers at \(path): stop it, or choose another socket with --socket."
        }
    }
}
