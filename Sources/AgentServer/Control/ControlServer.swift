// SPDX-License-Identifier: Apache-2.0
import Glibc
import Hummingbird
package import Logging
import NIOCore
import SyncAgent
package import SystemPackage

package struct ControlServer: Sendable {
    let path: FilePath
    let clients: Int
    private let logger: Logger
    let api: API
    let access: SocketAccess
    /// How often to look for the socket's file, at most; an idle agent looks every minute.
    var lookInterval: Duration = .seconds(5)

    /// Makes the socket's folder, and removes a socket that no agent answers on.
    ///
    /// - Throws: ``InUse`` if another agent answers there, or a ``FileError``.
    package init(at path: FilePath, clients: Int, logger: Logger, api: API, access: SocketAccess) throws {
        try Self.prepareFolder(of: path, mode: access.folderMode)
        guard path.string.utf8.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path) else {
            throw FileError("listen on", path.string, .fileNameTooLong)
        }
        if let entry = try? path.stat(followTargetSymlink: false) {
            guard entry.type == .socket else { throw FileError("listen on", path.string, .fileExists) }
            if ControlClient(socket: path).isAnswered { throw InUse(path: path) }
            unlink(path.string)
        }
        self.path = path
        self.clients = clients
        self.logger = logger
        self.api = api
        self.access = access
    }

    /// Makes the socket's folder if it is missing; an existing one keeps its mode.
    ///
    /// - Throws: A ``FolderError`` if other users could replace the socket in it, or a ``FileError``.
    private static func prepareFolder(of path: FilePath, mode: mode_t) throws {
        let folder = path.removingLastComponent()
        if Glibc.access(folder.string, F_OK) != 0 {
            try AgentFolders.make(folder, mode: FilePermissions(rawValue: mode))
            // The umask is set for the cache, so set the mode explicitly.
            try FileError.check("change the mode of", folder.string, chmod(folder.string, mode))
        }
        try FolderTrust.checkSocketFolder(folder)
    }

    /// Serves the socket and TCP listeners until the task is cancelled.
    package func run(with web: WebListeners) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await run() }
            group.addTask { await web.run() }
            defer { group.cancelAll() }
            for try await _ in group {}
        }
    }

    /// Serves the socket until the task is cancelled; throws a `FileError` if the socket cannot be used.
    ///
    /// Cleaners of `/run` and `/tmp` remove sockets that are in use: a missing one is bound again.
    func run() async throws {
        var isLost = try await serveUntilLost()
        var last: String?
        while isLost, !Task.isCancelled {
            if last == nil {
                logger.error("control socket removed: listening again", metadata: ["socket": "\(path)"])
            }
            do {
                try Self.prepareFolder(of: path, mode: access.folderMode)
                isLost = try await serveUntilLost()
                last = nil
            } catch {
                if "\(error)" != last { logger.error("cannot listen", metadata: ["error": "\(error)"]) }
                last = "\(error)"
                try? await Task.sleep(for: .seconds(10))
            }
        }
    }

    /// Returns whether the socket's file is missing; `false` if the task was cancelled.
    private func serveUntilLost() async throws -> Bool {
        let socket = BoundSocket(at: path)
        return try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await serve(socket)
                return false
            }
            group.addTask {
                var next = ContinuousClock.now + lookInterval
                for await _ in api.agent.changes where ContinuousClock.now >= next {
                    if socket.isMissing { return true }
                    next = .now + lookInterval
                }
                return false
            }
            for try await isLost in group where isLost {
                group.cancelAll()
                return true
            }
            return false
        }
    }

    private func serve(_ socket: BoundSocket) async throws {
        defer { socket.remove() }
        do {
            try await withTaskCancellationHandler {
                try await server.run { [path, access, api] _ in
                    // Until here, only the agent's user can connect: its umask denies others write permission.
                    access.open(path)
                    socket.recordBound()
                    api.agent.recordListening()
                }
            } onCancel: {
                socket.remove()
            }
        } catch let error as HTTPServer.Unavailable {
            throw FileError("listen on", path.string, error.errno)
        }
    }

    private var server: HTTPServer {
        let responder = api.router().buildResponder()
        let identify: HTTPServer.Identify = { [access] channel in
            PeerCredentials.peer(of: channel, for: access).map { access.seat($0) }
        }
        return HTTPServer(
            address: .socket(path), clients: clients, streams: clients, identify: identify, logger: logger
        ) { [access, api, logger] request, channel in
            var context = APIContext(source: ApplicationRequestContextSource(channel: channel, logger: logger))
            context.caller = access.caller(try? await PeerCredentials.peer(of: channel, for: access).get())
            let response = try await responder.respond(to: request, context: context)
            api.agent.counts.recordControlRequest(method: request.method.rawValue, status: response.status.code)
            return response
        }
    }

    /// Limits the event loop threads; each takes three descriptors.
    ///
    /// Call this before any server or client is made.
    package static func limitThreads(to count: Int) {
        NIOSingletons.groupLoopCountSuggestion = count
    }

    package struct InUse: Error, CustomStringConvertible {
        var path: FilePath
        package var description: String {
            "Another agent answers at \(path): stop it, or choose another socket with --socket."
        }
    }
}
