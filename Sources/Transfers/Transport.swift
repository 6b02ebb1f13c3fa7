// SPDX-License-Identifier: Apache-2.0
package import SyncPlan

/// Sends requests, many at once, and hands over what comes; all on one thread, which belongs to its owner.
package protocol Transport: AnyObject {
    /// Begins a transfer; it goes on with ``perform()``.
    func begin(_ request: TransferRequest, _ receiver: any TransferReceiver) -> any Transfer

    /// Ends a transfer that has not ended; its receiver gets nothing any more.
    func cancel(_ transfer: any Transfer)

    /// Lets a transfer go on whose receiver said ``Reception/later``; the receiver may get something at once.
    func resume(_ transfer: any Transfer)

    /// Ends a transfer of which nothing has come for a while, and its connection if nothing has come over that either:
    /// no other request is to wait for it.
    func breakOff(_ transfer: any Transfer, afterSilenceOf time: Duration)

    /// Lets all transfers go on as far as they can at once.
    ///
    /// - Returns: Those that have ended, with why if that was before their time.
    func perform() -> [(transfer: any Transfer, failure: (any Error)?)]

    /// Waits until a transfer can go on, the descriptor can be read, or the time is over.
    func wait(for descriptor: Int32, atMost time: Duration?)

    /// Closes all connections; no transfer may be under way.
    func closeConnections()

    /// Whether no transfer is under way.
    var isIdle: Bool { get }

    /// Whether connections may be open.
    var hasConnections: Bool { get }
}

/// A transfer under way.
package protocol Transfer: AnyObject {
    var receiver: any TransferReceiver { get }
    /// Whether its receiver wants no more for now.
    var isPaused: Bool { get }
    /// When the request was sent, or something came for the last time; `nil` if it has not been sent.
    var lastActivity: ContinuousClock.Instant? { get }
    /// Whether another request was answered over its connection before, and nothing has come since this one was sent.
    var mayBeStale: Bool { get }
    /// Whether anything of an answer ever came over its connection.
    var isAnswered: Bool { get }
}

/// Takes what comes of a transfer, on the thread of the transfers.
package protocol TransferReceiver: AnyObject {
    /// Takes the head of the final answer.
    ///
    /// - Returns: Whether the body is wanted; if not, the transfer ends with ``Unwanted``.
    func take(_ head: ResponseHead) -> Bool

    /// Takes a part of the body.
    func take(_ bytes: UnsafeRawBufferPointer) -> Reception
}

/// What becomes of a part of a body.
package enum Reception {
    case taken
    /// It comes again after ``Transport/resume(_:)``.
    case later
    /// The transfer ends with ``Unwanted``.
    case refused
}

/// The receiver did not want any more.
package struct Unwanted: Error {
    package init() {}
}
