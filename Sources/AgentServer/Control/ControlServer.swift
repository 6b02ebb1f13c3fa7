// SPDX-License-Identifier: Apache-2.0
import Glibc
import Hummingbird
package import Logging
import NIOCore
import SyncAgent
package import SystemPackage

/// Answers on the control socket.
package struct ControlServer: Sendable {
    let path: FilePath
    /// The most clients at once: others wait until one is gone.
    let clients: Int
    private let logger: Logger
    let api: API
    let access: SocketAccess

    /// Makes ready to listen on a socket.
    ///
    /// - Parameters:
    ///   - path: The socket.
    ///   - clients: The most clients at once.
    ///   - logger: Where troubles of the server go.
    ///   - api: What can be asked.
    ///   - access: Who may ask for it.
    /// - Throws: ``InUse`` if another agent answers there, or a ``FileError``.
    package init(at path: FilePath, clients: Int, logger: Logger, api: API, access: SocketAccess) throws {
        let folder = path.removingLastComponent()
        try Self.makeFolder(folder, mode: access.folderMode)
        try FolderTrust.checkSocketFolder(folder)
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

    /// Makes the socket's folder if it is missing; one that is there keeps its mode.
    private static func makeFolder(_ folder: FilePath, mode: mode_t) throws {
        guard Glibc.access(folder.string, F_OK) != 0 else { return }
        try AgentFolders.make(folder, mode: FilePermissions(rawValue: mode))
        // The umask is that of the cache.
        guard chmod(folder.string, mode) == 0 else {
            throw FileError("change the mode of", folder.string, Errno(rawValue: errno))
        }
    }

    /// Answers on the socket and over TCP until the task is cancelled; only at the socket is the dashboard opened.
    package func run(with web: WebListeners) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await run() }
            group.addTask { await web.run() }
            defer { group.cancelAll() }
            for try await _ in group {}
        }
    }

    /// Answers on the socket until the task is cancelled.
    ///
    /// - Throws: A `FileError` if the socket cannot be used.
    func run() async throws {
        let socket = BoundSocket(at: path)
        defer { socket.remove() }
        do {
            try await withTaskCancellationHandler {
                try await server.run { [path, access, api] _ in
                    // Until here only the owner could connect: the agent's umask takes the right to write from all others.
                    access.open(path)
                    socket.noteBound()
                    api.agent.noteListening()
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
        let identify: SeatHandler.Identify = { [access] channel in
            PeerCredentials.peer(of: channel, for: access).map { access.client($0) }
        }
        return HTTPServer(
            address: .socket(path), clients: clients, streams: clients, identify: identify, logger: logger
        ) { [access, api, logger] request, channel in
            let context = APIContext(
                source: ApplicationRequestContextSource(channel: channel, logger: logger),
                caller: access.caller(try? await PeerCredentials.peer(of: channel, for: access).get()))
            let response = try await responder.respond(to: request, context: context)
            api.agent.counts.noteControlRequest(method: request.method.rawValue, status: response.status.code)
            return response
        }
    }

    /// Sets how many threads wait for sockets: to be called before any server or client is made.
    ///
    /// Each takes three descriptors.
    package static func limitThreads(to count: Int) {
        NIOSingletons.groupLoopCountSuggestion = count
    }

    /// Another agent answers at the socket.
    package struct InUse: Error, CustomStringConvertible {
        var path: FilePath
        package var description: String {
            "Another agent answers at \(path): stop it, or choose another socket with --socket."
        }
    }
}
