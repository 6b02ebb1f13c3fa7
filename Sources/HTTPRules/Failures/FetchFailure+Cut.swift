// SPDX-License-Identifier: Apache-2.0
import ImageChecks

extension FetchFailure {
    /// The end of a response that did not bring all of an image.
    package struct Cut: Equatable, Sendable {
        /// The number of bytes of the image that have arrived, including those of earlier attempts.
        package var end: Int
        /// The size of the whole image, in bytes; `nil` if the server did not say.
        package var length: Int?
        /// Whether the whole image was requested, and not only the rest of a part.
        package var isWhole: Bool
        /// Whether the next attempt can continue at the end.
        package var isKept: Bool
        /// Whether enough new bytes are kept, besides those of earlier attempts.
        package var isProgress = false

        package init(end: Int, length: Int?, isWhole: Bool, isKept: Bool) {
            (self.end, self.length, self.isWhole, self.isKept) = (end, length, isWhole, isKept)
        }
    }

    /// Whether the failure can mean that the connection cut the body off.
    package var mayBeCut: Bool {
        switch code {
        case .fetch(.connectionClosed), .fetch(.timeout): true
        case .image(.truncated): persistence == .passing
        case .fetch, .http, .image, .url: false
        }
    }

    /// The failure of an image whose responses all end at the same byte.
    package static func cutShort(at cut: Cut) -> FetchFailure {
        FetchFailure(
            .cutShort,
            "every response ends after \(cut.reached): the file on the server is truncated, or something on the way cuts "
                + "it off")
    }

    /// The same failure, with a message that says how much of the image is kept.
    package func keeping(_ cut: Cut) -> FetchFailure {
        var failure = self
        failure.cut = cut
        failure.message += "; \(cut.reached)\(Self.kept)"
        return failure
    }

    private static let kept = " are kept, and the next attempt can go on there"

    /// The message of a failure for another icon, which has no part of the image.
    package static func leavingOutPart(of message: String) -> String {
        guard message.hasSuffix(kept), let end = message.lastIndex(of: ";") else { return message }
        return String(message[..<end])
    }
}

extension FetchFailure.Cut {
    fileprivate var reached: String { (length.map { "\(end) of \($0)" } ?? "\(end)") + " bytes" }
}
