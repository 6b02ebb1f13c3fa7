// SPDX-License-Identifier: Apache-2.0
package import HTTPRules

/// Sends concurrent requests and delivers the responses, all on one thread provided by its owner.
package protocol Transport: AnyObject {
    /// Begins a transfer; ``perform()`` continues it.
    func begin(_ request: TransferRequest, _ receiver: any TransferReceiver) -> any Transfer

    /// Cancels a transfer that has not ended; its receiver is not called again.
    func cancel(_ transfer: any Transfer)

    /// Resumes a transfer whose receiver returned ``Reception/later``; may call the receiver at once.
    func resume(_ transfer: any Transfer)

    /// Cancels a transfer that timed out; also shuts its connection down if it received nothing for this time, so that
    /// no other request waits for it.
    func breakOff(_ transfer: any Transfer, afterSilenceOf time: Duration)

    /// Continues all transfers as far as possible without waiting.
    ///
    /// - Returns: The transfers that ended, with the failure of incomplete ones.
    func perform() -> [(transfer: any Transfer, failure: (any Error)?)]

    /// Waits until a transfer can continue, the descriptor is readable, or the time has passed.
    func wait(for descriptor: Int32, atMost time: Duration?)

    /// Closes all connections; there must be no transfers.
    func closeConnections()

    var isIdle: Bool { get }

    /// Whether connections may be open.
    var hasConnections: Bool { get }
}

package protocol Transfer: AnyObject {
    var receiver: any TransferReceiver { get }
    var isPaused: Bool { get }
    /// When the request was sent or data was last received; `nil` before that.
    var lastActivity: ContinuousClock.Instant? { get }
    /// Whether its connection was used before, and nothing was received since this request was sent.
    var mayBeStale: Bool { get }
    /// Whether any response was ever received over its connection.
    var isAnswered: Bool { get }
}

/// Receives the response of a transfer, on the transfers' thread.
package protocol TransferReceiver: AnyObject {
    /// Receives the head of the final response.
    ///
    /// - Returns: Whether the body is wanted; if not, the transfer ends with ``Unwanted``.
    func take(_ head: ResponseHead) -> Bool

    /// Receives a part of the body.
    func take(_ bytes: UnsafeRawBufferPointer) -> Reception
}

package enum Reception {
    case taken
    /// The transfer pauses; the part is delivered again after ``Transport/resume(_:)``.
    case later
    /// The transfer ends with ``Unwanted``.
    case refused
}

/// The receiver refused the rest of the response.
package struct Unwanted: Error {
    package init() {}
}
