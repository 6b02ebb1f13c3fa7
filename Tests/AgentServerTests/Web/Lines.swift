// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import NIOCore
import Synchronization

/// What is written to a client.
final class Lines: ResponseBodyWriter, Sendable {
    private let written = Mutex("")

    var text: String { written.withLock(\.self) }

    func write(_ buffer: ByteBuffer) async throws {
        written.withLock { $0 += String(buffer: buffer) }
    }

    func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
