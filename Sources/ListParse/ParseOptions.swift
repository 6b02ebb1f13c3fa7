// SPDX-License-Identifier: Apache-2.0
package import AppLists
import CacheFormat

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
