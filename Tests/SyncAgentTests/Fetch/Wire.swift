// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import HTTPRules
import Synchronization
import TestSupport
import Transfers

@testable import SyncAgent

/// Requests over real connections, without redirects, conditions and files.
actor Wire {
    /// Where a transfer pauses: at its first part, until ``resume(_:)``.
    final class Pause: Sendable {
        let begun = Gate()
        fileprivate let isOver = Atomic(false)
    }

    private final class Reader: TransferReceiver {
        private let waiter: CheckedContinuation<(status: Int, body: [UInt8]), any Error>
        let number: Int
        let request: TransferRequest
        let pause: Pause?
        let begun = ContinuousClock.now
        var hasRetried = false
        var transfer: (any Transfer)?
        private(set) var status: Int?
        /// How the transfer ended; `nil` while it goes on.
        private(set) var end: Result<Void, any Error>?
        private var body: [UInt8] = []

        init(
            _ number: Int, _ request: TransferRequest, _ pause: Pause?,
            _ waiter: CheckedContinuation<(status: Int, body: [UInt8]), any Error>
        ) {
            self.number = number
            self.request = request
            self.pause = pause
            self.waiter = waiter
        }

        func receive(_ head: ResponseHead) -> Bool {
            status = head.status
            return true
        }

        func receive(_ bytes: UnsafeRawBufferPointer) -> Reception {
            if let pause, !pause.isOver.load(ordering: .relaxed) {
                pause.begun.open()
                return .later
            }
            body += Array(bytes)
            return .taken
        }

        func receiveEnd(_ failure: (any Error)?) { end = failure.map { .failure($0) } ?? .success(()) }

        /// Begins the request, or begins it again.
        func begin(over transport: CurlMulti) {
            end = nil
            transfer = transport.begin(request, self)
        }

        func finish(_ failure: (any Error)?) {
            switch (failure, status) {
            case (let refusal as AddressPolicy.Refusal, _):
                waiter.resume(throwing: FetchFailure.address(refusal, of: request.route.host))
            case (let failure?, _): waiter.resume(throwing: failure)
            case (nil, let status?): waiter.resume(returning: (status, body))
            case (nil, nil): waiter.resume(throwing: FetchFailure.protocolViolation("no head"))
            }
        }
    }

    private nonisolated let thread = TransferThread()
    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
    private let settings: Settings
    private let transport: CurlMulti
    private var readers: [Reader] = []
    private var count = 0

    private init(_ settings: Settings) {
        self.settings = settings
        transport = CurlMulti(TransferOptions(settings))
        thread.start { self.assumeIsolated { $0.turn() } }
    }

    /// Runs the body with a transport whose connections are closed at the end, however it ends.
    static func run<R>(_ settings: Settings, _ body: (Wire) async throws -> R) async throws -> R {
        let wire = Wire(settings)
        let result: Result<R, any Error>
        do {
            result = .success(try await body(wire))
        } catch {
            result = .failure(error)
        }
        await wire.shutdown()
        return try result.get()
    }

    private func shutdown() {
        for reader in readers { reader.transfer?.cancel() }
        transport.closeConnections()
        thread.stop()
    }

    private func turn() {
        transport.perform()
        let limit = settings.fetch.idleTimeout
        for reader in readers {
            if let end = reader.end {
                do {
                    try end.get()
                    finish(reader, nil)
                } catch {
                    finish(reader, error)
                }
            } else if (reader.transfer?.lastActivity ?? reader.begun) + limit < .now {
                reader.transfer?.breakOff(afterSilenceOf: limit)
                finish(reader, FetchFailure.timeout("the idle limit"))
            }
        }
        transport.wait(for: thread.bell, atMost: readers.isEmpty ? nil : limit)
    }

    func resume(_ pause: Pause) {
        pause.isOver.store(true, ordering: .relaxed)
        for reader in readers where reader.pause === pause { reader.transfer?.resume() }
    }

    private func cancel(_ number: Int) {
        guard let reader = readers.first(where: { $0.number == number }) else { return }
        reader.transfer?.cancel()
        finish(reader, CancellationError())
    }

    private func finish(_ reader: Reader, _ failure: (any Error)?) {
        // As the downloads do with a connection that was kept for too long.
        if reader.transfer?.mayBeStale == true, reader.status == nil, !reader.hasRetried,
            (failure as? FetchFailure)?.code == .fetch(.connectionClosed)
        {
            reader.hasRetried = true
            reader.begin(over: transport)
        } else {
            readers.removeAll { $0 === reader }
            reader.finish(failure)
        }
    }

    private func plainRoute(to target: FetchTarget) throws -> Route {
        guard case .addresses(let addresses) = SystemResolver.lookUp(target.host) else {
            throw FetchFailure(.dns, "\(target.host) cannot be resolved")
        }
        return Route(
            host: target.host, port: target.port, addresses: addresses,
            policy: settings.network.addresses(for: target.host), setting: nil)
    }

    /// Reads an answer to the end of its body, unless the task is cancelled.
    ///
    /// Without a route, the host is resolved, and not judged before there is a connection.
    func answer(
        from url: String, fields: [(name: String, value: String)] = [], by route: Route? = nil, _ pause: Pause? = nil
    ) async throws -> (status: Int, body: [UInt8]) {
        let target = try FetchTarget(url)
        let request = TransferRequest(
            url: target.url, fields: fields, proxy: nil, route: try route ?? plainRoute(to: target),
            mayMultiplex: target.isSecure, limits: settings.fetch.limits)
        count += 1
        let number = count
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                let reader = Reader(number, request, pause, waiter)
                readers.append(reader)
                reader.begin(over: transport)
            }
        } onCancel: {
            Task { await cancel(number) }
        }
    }
}
