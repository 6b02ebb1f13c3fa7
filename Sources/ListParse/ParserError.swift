// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Why the parser reaches no verdict.
package enum ParserError: Error, Equatable, CustomStringConvertible {
    case missingValue(option: String)
    case notAURL(option: String)
    case notANumber(option: String, limit: Int)
    case unknownOption(String)
    case failed(call: String, errno: Int32)

    package var description: String {
        switch self {
        case .missingValue(let option): "\(option) needs a value"
        case .notAURL(let option): "\(option) takes an http or https URL"
        case .notANumber(let option, let limit): "\(option) takes a number from 1 to \(limit)"
        case .unknownOption(let option): "“\(option)” is not an option"
        case .failed(let call, let errno): "\(call) failed: \(String(cString: strerror(errno)))"
        }
    }

    /// The exit code (sysexits.h).
    package var exitStatus: Int32 {
        switch self {
        case .missingValue, .notAURL, .notANumber, .unknownOption: EX_USAGE
        case .failed: EX_OSERR
        }
    }
}
