// SPDX-License-Identifier: Apache-2.0
package import HTTPRules

/// Sends concurrent requests and delivers the responses, all on one thread provided by its owner.
package protocol Transport: AnyObject {
    /// Applies options to transfers that begin from now on.
    func configure(_ options: TransferOptions)

    /// Begins a transfer; ``perform()`` continues it.
    func begin(_ request: TransferRequest, _ receiver: any TransferReceiver) -> any Transfer

    /// Continues all transfers as far as possible without waiting.
    func perform()

    /// Waits until a transfer can continue, the descriptor is readable, or the time has passed.
    func wait(for descriptor: Int32, atMost time: Duration?)

    /// Closes all connections; there must be no transfers.
    func closeConnections()

    var isIdle: Bool { get }

    /// Whether connections may be open.
    var hasConnections: Bool { get }
}

/// A request and its response; the methods do nothing once it has ended.
package protocol Transfer: AnyObject {
    var isPaused: Bool { get }
    /// When the request was sent or data was last received; `nil` before that.
    var lastActivity: ContinuousClock.Instant? { get }
    /// Whether its connection was used before, and nothing was received since this request was sent.
    var mayBeStale: Bool { get }
    /// Whether any response was ever received over its connection.
    var isAnswered: Bool { get }

    /// For how long it has waited while others used the connections of its host, of which there is a limited number.
    func waitTime(at now: ContinuousClock.Instant) -> Duration

    /// Cancels the transfer; its receiver is not called again.
    func cancel()

    /// Resumes the transfer after its receiver returned ``Reception/later``; may call the receiver at once.
    func resume()

    /// Cancels the transfer after a timeout; also shuts its connection down if it received nothing for this time, so
    /// that no other request waits for it.
    func breakOff(afterSilenceOf time: Duration)
}

/// Receives the response of a transfer, on the transfers' thread.
package protocol TransferReceiver: AnyObject {
    /// Receives the head of the final response.
    ///
    /// - Returns: Whether the body is wanted; if not, the transfer ends with ``Unwanted``.
    func receive(_ head: ResponseHead) -> Bool

    /// Receives a part of the body.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Reception

    /// Receives the end of the transfer, with the failure if it is incomplete.
    func receiveEnd(_ failure: (any Error)?)
}

package struct TransferOptions {
    package init() {}

    package var userAgent = ""
    /// A PEM file of trusted certificates; `nil` for those of the system.
    package var caFile: String?
    /// Tells contents of ``caFile`` apart.
    package var caVersion: String?
    /// The limit on the duration of a transfer, enforced by the owner; 120 s by default.
    package var totalTimeout: Duration = .seconds(120)
    /// The number of idle connections kept; 64 by default.
    package var connections = 64
    /// The limit on connections per host, beyond which requests wait that are not urgent; 4 by default.
    package var connectionsPerHost = 4
    /// The size of each connection's receive buffer (`SO_RCVBUF` in socket(7)); `nil` lets the system choose.
    package var receiveBuffer: Int?
}

package enum Reception {
    case taken
    /// The transfer pauses; the part is delivered again after ``Transfer/resume()``.
    case later
    /// The transfer ends with ``Unwanted``.
    case refused
}

/// The receiver refused the rest of the response.
package struct Unwanted: Error {
    package init() {}
}
