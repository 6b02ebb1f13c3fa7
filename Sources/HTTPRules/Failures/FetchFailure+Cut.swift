// SPDX-License-Identifier: Apache-2.0
import ImageChecks

extension FetchFailure {
    /// Where a response ended that did not bring all of an image.
    package struct Cut: Equatable, Sendable {
        /// How many bytes of the image had come, those of earlier attempts included.
        package var end: Int
        /// The size of the whole image, in bytes; `nil` if the server did not say.
        package var length: Int?
        /// Whether the response was to bring the whole image, and not the rest of one.
        package var isWhole: Bool
        /// Whether the next attempt can continue there.
        package var isKept: Bool
        /// Whether enough bytes are kept that earlier attempts did not bring.
        package var isProgress = false

        package init(end: Int, length: Int?, isWhole: Bool, isKept: Bool) {
            (self.end, self.length, self.isWhole, self.isKept) = (end, length, isWhole, isKept)
        }
    }

    /// Whether it can mean that the connection cut the body off.
    package var mayBeCut: Bool {
        switch code {
        case .fetch(.connectionClosed), .fetch(.timeout): true
        case .image(.truncated): persistence == .passing
        case .fetch, .http, .image, .url: false
        }
    }

    /// Every response ends at the same place.
    package static func cutShort(at cut: Cut) -> FetchFailure {
        FetchFailure(
            .cutShort,
            "every response ends after \(cut.reached): the file on the server is truncated, or something on the way cuts "
                + "it off")
    }

    /// The same failure; it also tells what is kept.
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
