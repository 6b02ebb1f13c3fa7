// SPDX-License-Identifier: Apache-2.0
package import Logging
package import ServiceLifecycle

package enum LocalServer {
    /// Runs a server until the task is cancelled, then shuts it down gracefully.
    ///
    /// Cancellation must not reach a Hummingbird application directly: NIO traps (2.101, “Deinited NIOAsyncWriter
    /// without calling finish()”) for each accepted connection that is not handled yet. So the server first stops
    /// listening, closes idle connections, and completes responses, for at most `patience`.
    ///
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
