// SPDX-License-Identifier: Apache-2.0
import CCrypto

/// A SHA-256 digest: the name of an image, of a list document, and of a URL in `by-url/`.
public struct Digest: Hashable, Sendable {
    private let a, b, c, d: UInt64

    /// Creates a digest from its 32 bytes; `nil` if there are more or fewer.
    public init?(bytes: some Sequence<UInt8>) {
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        var count = 0
        for byte in bytes {
            let word = UInt64(byte) << (56 - 8 * UInt64(count % 8))
            switch count / 8 {
            case 0: words.0 |= word
            case 1: words.1 |= word
            case 2: words.2 |= word
            case 3: words.3 |= word
            default: return nil
            }
            count += 1
        }
        guard count == 32 else { return nil }
        (a, b, c, d) = words
    }

    /// Reads 64 lower-case hexadecimal digits; `nil` if the text is anything else.
    public init?(hex: some StringProtocol) {
        var text = String(hex)
        guard let digest = text.withUTF8({ Digest(hexDigits: $0) }) else { return nil }
        self = digest
    }

    /// Reads 64 lower-case hexadecimal digits in ASCII.
    init?(hexDigits digits: UnsafeBufferPointer<UInt8>) {
        guard digits.count == 64, let a = Self.word(digits[0..<16]), let b = Self.word(digits[16..<32]),
            let c = Self.word(digits[32..<48]), let d = Self.word(digits[48..<64])
        else { return nil }
        (self.a, self.b, self.c, self.d) = (a, b, c, d)
    }

    private static func word(_ digits: Slice<UnsafeBufferPointer<UInt8>>) -> UInt64? {
        var word: UInt64 = 0
        for digit in digits {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): word = word << 4 | UInt64(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): word = word << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return word
    }

    /// The first byte, which selects the two-digit folder.
    package var fan: Int { Int(a >> 56) }

    /// The first 16 bytes, which distinguish the digests of data from outside as well as all 32 do.
    package var half: (UInt64, UInt64) { (a, b) }

    /// Computes the digest of bytes.
    public static func of(_ bytes: [UInt8]) -> Digest {
        var hash = SHA256()
        bytes.withUnsafeBytes { hash.update($0) }
        return hash.finish()
    }

    /// Computes the digest of the UTF-8 bytes of a text.
    public static func of(_ text: String) -> Digest {
        of(Array(text.utf8))
    }

    /// The 64 lower-case hexadecimal digits.
    public var hex: String {
        String(unsafeUninitializedCapacity: 64) { buffer in
            writeDigits { buffer[$0] = $1 }
            return 64
        }
    }

    /// Appends the 64 hexadecimal digits.
    func write(to bytes: inout [UInt8]) {
        writeDigits { bytes.append($1) }
    }

    private func writeDigits(_ write: (Int, UInt8) -> Void) {
        for (number, word) in [a, b, c, d].enumerated() {
            for digit in 0..<16 {
                let value = UInt8(truncatingIfNeeded: word >> UInt64(60 - 4 * digit) & 0xF)
                write(16 * number + digit, value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10)
            }
        }
    }
}

extension Digest {
    /// Hashes the first eight bytes, which distinguish digests as well as all 32 do.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(a)
    }
}

extension Digest: Comparable {
    /// Whether `x` sorts before `y`, byte by byte.
    public static func < (x: Digest, y: Digest) -> Bool {
        (x.a, x.b, x.c, x.d) < (y.a, y.b, y.c, y.d)
    }
}

extension Digest: CustomStringConvertible {
    public var description: String { hex }
}
