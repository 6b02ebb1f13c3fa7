// SPDX-License-Identifier: Apache-2.0
package import AppLists
import CacheFormat
import Glibc

/// The command line: `--max-bytes N --max-entries N --icon-keys a,b,c --identity-keys a,b --icon-base-url URL`.
package enum ParseOptions {
    /// Parses the arguments; limits that they omit have their defaults.
    ///
    /// - Throws: ``ParserError`` if an argument is unknown, or its value is missing or out of range.
    package static func limits(from arguments: some Sequence<String>) throws(ParserError) -> ListLimits {
        var limits = ListLimits()
        var arguments = arguments.makeIterator()
        while let name = arguments.next() {
            guard let value = arguments.next() else { throw .missingValue(option: name) }
            switch name {
            case "--max-bytes":
                limits.maxBytes = ByteCount(try number(value, for: name, atMost: 1 << 30))
            case "--max-entries":
                limits.maxEntries = try number(value, for: name, atMost: 1_000_000)
            case "--icon-keys":
                limits.iconKeys = value.split(separator: ",").map(String.init)
            case "--identity-keys":
                limits.identityKeys = value.split(separator: ",").map(String.init)
            case "--icon-base-url":
                guard let base = IconBase(value) else { throw .notAURL(option: name) }
                limits.iconBase = base
            default:
                throw .unknownOption(name)
            }
        }
        return limits
    }

    private static func number(_ text: String, for name: String, atMost limit: Int) throws(ParserError) -> Int {
        guard let number = Int(text), (1...limit).contains(number) else {
            throw .notANumber(option: name, limit: limit)
        }
        return number
    }
}

/// The reason why the parser reaches no verdict.
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
