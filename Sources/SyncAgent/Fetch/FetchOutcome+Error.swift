// SPDX-License-Identifier: Apache-2.0
import HTTPRules
import ImageChecks
import SystemPackage

extension FetchOutcome {
    init(_ error: any Error) {
        switch error {
        case let failure as FetchFailure: self = .failed(failure)
        case let rejection as ImageRejection: self = .failed(.image(rejection))
        case let shortage as Shortage: self = .noRoom(shortage)
        case is CancellationError: self = .cancelled
        case let error as Errno where Shortage(error) == nil:
            self = .failed(FetchFailure(.connect, "cannot connect (\(error))"))
        default:
            if let shortage = ((error as? FileError)?.errno ?? error as? Errno).flatMap({ Shortage($0) }) {
                self = .noRoom(shortage)
            } else {
                self = .failed(FetchFailure(.disk, "\(error)"))
            }
        }
    }
}
