// SPDX-License-Identifier: Apache-2.0
import Fleet
import FoundationEssentials
import TestSupport

extension SecretKey {
    /// A key that is the same each time.
    static func sample(_ number: Int) -> SecretKey {
        var generator = SeededRandom(seed: UInt64(number))
        return SecretKey(using: &generator)
    }
}

/// Base64, written and read by another than the module's own functions.
enum Base64Text {
    static func bytes(_ text: String) -> [UInt8]? { Data(base64Encoded: text).map { Array($0) } }
    static func text(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
}
