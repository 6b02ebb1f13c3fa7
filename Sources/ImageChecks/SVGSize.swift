// SPDX-License-Identifier: Apache-2.0

/// The size that a drawing's root gives in `width`, `height` and `viewBox` (SVG 2, 8.2 and 8.12).
///
/// Only absolute lengths count; a missing one is derived from the other and the proportions of the `viewBox`.
struct SVGSize {
    private var width: Double?
    private var height: Double?
    private var box: (width: Double, height: Double)?

    mutating func read(_ name: Range<Int>, _ value: Range<Int>, in bytes: RawSpan) throws(ImageFault) {
        if bytes.isEqual(name, "width") { width = Self.length(try Self.text(value, in: bytes)) }
        if bytes.isEqual(name, "height") { height = Self.length(try Self.text(value, in: bytes)) }
        if bytes.isEqual(name, "viewBox") {
            let separators = [" ", ",", "\t", "\n", "\r", "\r\n"] as Set<Character>
            let numbers = try Self.text(value, in: bytes).split { separators.contains($0) }.map { Double($0) ?? .nan }
            guard numbers.count == 4, numbers.allSatisfy(\.isFinite) else { return }
            box = (numbers[2], numbers[3])
        }
    }

    /// The size in whole pixels; a positive length is at least 1.
    func pixels() throws(ImageFault) -> PixelSize {
        switch (width, height, box) {
        case (let width?, let height?, _):
            return Self.pixels(width, height)
        case (let width?, nil, let box?) where box.width > 0:
            return Self.pixels(width, width / box.width * box.height)
        case (nil, let height?, let box?) where box.height > 0:
            return Self.pixels(height / box.height * box.width, height)
        case (nil, nil, let box?):
            return Self.pixels(box.width, box.height)
        default:
            throw .malformed("it does not give its size (width, height or viewBox)")
        }
    }

    private static func pixels(_ width: Double, _ height: Double) -> PixelSize {
        PixelSize(width: pixels(width), height: pixels(height))
    }

    private static func pixels(_ length: Double) -> Int {
        // NaN (0 / 0) is not greater than 0.
        length > 0 ? max(1, Int(min(length, 1e9).rounded())) : 0
    }

    private static func text(_ value: Range<Int>, in bytes: RawSpan) throws(ImageFault) -> String {
        // A text that is longer is not a number.
        value.count <= 256 ? try bytes.text(in: value) : ""
    }

    /// A length in CSS pixels; `nil` if it is invalid or relative.
    private static func length(_ text: String) -> Double? {
        let text = text.drop { $0 == " " }
        let trimmed = text.prefix { $0 != " " }
        guard text.dropFirst(trimmed.count).allSatisfy({ $0 == " " }) else { return nil }
        let unit = trimmed.reversed().prefix { $0.isLetter || $0 == "%" }.reversed()
        let factor: Double? =
            switch String(unit).lowercased() {
            case "", "px": 1
            case "in": 96
            case "cm": 96 / 2.54
            case "mm": 96 / 25.4
            case "q": 96 / 101.6
            case "pt": 96.0 / 72
            case "pc": 16
            default: nil
            }
        guard let factor, let number = Double(trimmed.dropLast(unit.count)), number.isFinite else { return nil }
        return number * factor
    }
}
