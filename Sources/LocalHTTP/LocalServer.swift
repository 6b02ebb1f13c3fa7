// SPDX-License-Identifier: Apache-2.0
package import Logging
package import ServiceLifecycle

/// A server of this machine's own programs, which ends when the task that runs it is cancelled.
package enum LocalServer {
    /// Runs a server until the task is cancelled, and lets it end in order.
    ///
    /// Its own cancellation must not reach a Hummingbird application: NIO traps (2.101, “Deinited NIOAsyncWriter without
    /// calling finish()”) for each connection that was accepted and that nobody takes any more. So it first stops to
    /// listen, closes what is idle, and finishes answers.
    ///
    /// - Parameters:
    ///   - server: The Hummingbird application.
    ///   - patience: How long answers under way may take at the end, before they are cut off.
    ///   - logger: Where the server's own troubles go.
    /// - Throws: What the server throws, for example if it cannot listen.
    package static func run(_ server: some Service, patience: Duration, logger: Logger) async throws {
        var configuration = ServiceGroupConfiguration(services: [server], logger: logger)
        configuration.maximumGracefulShutdownDuration = patience
        let group = ServiceGroup(configuration: configuration)
        let running = Task { try await group.run() }
        try await withTaskCancellationHandler {
            try await running.value
        } onCancel: {
            Task { await group.triggerGracefulShutdown() }
        }
    }
}
