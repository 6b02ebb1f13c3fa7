// SPDX-License-Identifier: Apache-2.0

extension Span<UInt8> {
    var string: String { withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) } }

    /// Whether the text matches the pattern, in which a dot stands for any byte, and a letter also for its capital.
    func matches(_ pattern: StaticString) -> Bool {
        guard count == pattern.utf8CodeUnitCount else { return false }
        for index in indices {
            let (byte, expected) = (self[index], pattern.utf8Start[index])
            guard
                expected == UInt8(ascii: ".") || byte == expected
                    || expected >= UInt8(ascii: "a") && byte | 0x20 == expected
            else { return false }
        }
        return true
    }
}
