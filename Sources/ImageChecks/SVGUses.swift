// SPDX-License-Identifier: Apache-2.0

/// Limits what the `use` elements of a drawing stand for, all levels of them expanded.
///
/// If each level uses the one before it twice, few bytes stand for millions of shapes, which a reader draws one by one.
/// Elements with the same id all count.
struct SVGUses {
    private static let limit = 10_000
    /// A longer chain of uses stands for more than the limit: 1 + 2 + 3 + … elements.
    private static let deepest = 150

    /// The `use` elements in the order of the document; elements are numbered from 0.
    private var uses: [(element: Int, target: [UInt8])] = []
    /// The elements with an id, and all within them.
    private var extents: [[UInt8]: [Range<Int>]] = [:]
    /// The elements that a target stands for; `nil` while it is counted.
    private var counts: [[UInt8]: Int?] = [:]

    /// Checks a drawing that is well-formed.
    static func check(_ bytes: RawSpan) throws(ImageFault) {
        var uses = SVGUses()
        try uses.findUses(in: bytes)
        guard uses.uses.count <= limit else { throw tooMany }
        guard !uses.uses.isEmpty else { return }
        try uses.findTargets(in: bytes)
        _ = try uses.count(within: 0..<Int.max, depth: 0)
    }

    private static let tooMany = ImageFault.forbidden("its “use” elements stand for more than \(limit) elements")
    private static let encoded = ImageFault.forbidden("a “use”, or an id, is written with references")

    private mutating func findUses(in bytes: RawSpan) throws(ImageFault) {
        var tokens = XMLTokens(bytes)
        var elements = 0
        var isUse = false
        while let token = try tokens.next(in: bytes) {
            if case .tag(let name) = token {
                isUse = bytes.isEqualInAnyCase(SVG.localName(of: name, in: bytes), "use")
                elements += 1
            }
            guard isUse, case .attribute(let name, let value) = token,
                bytes.isEqualInAnyCase(SVG.localName(of: name, in: bytes), "href")
            else { continue }
            let target = try Self.identifier(value, in: bytes)
            guard target.first == UInt8(ascii: "#") else { continue }
            // Readers decode it.
            guard !target.contains(UInt8(ascii: "%")) else { throw Self.encoded }
            uses.append((elements - 1, Array(target.dropFirst())))
        }
    }

    private mutating func findTargets(in bytes: RawSpan) throws(ImageFault) {
        let targets = Set(uses.map(\.target))
        var tokens = XMLTokens(bytes)
        var elements = 0
        var open: [(element: Int, target: [UInt8]?)] = []
        while let token = try tokens.next(in: bytes) {
            switch token {
            case .tag:
                open.append((elements, nil))
                elements += 1
            case .attribute(let name, let value)
            where bytes.isEqualInAnyCase(name, "id") || bytes.isEqualInAnyCase(name, "xml:id"):
                let id = try Self.identifier(value, in: bytes)
                guard targets.contains(id) else { continue }
                // An element can have both attributes.
                if let other = open[open.count - 1].target, other != id { throw Self.encoded }
                open[open.count - 1].target = id
            case .tagEnd(isEmpty: true), .close:
                guard let last = open.popLast(), let target = last.target else { continue }
                extents[target, default: []].append(last.element..<elements)
            default:
                continue
            }
        }
    }

    private mutating func count(of target: [UInt8], depth: Int) throws(ImageFault) -> Int {
        if let known = counts[target] {
            guard let known else { throw .forbidden("a “use” stands for itself") }
            return known
        }
        guard depth < Self.deepest else { throw Self.tooMany }
        counts[target] = .some(nil)
        let extents = extents[target] ?? []
        var count = extents.reduce(0) { $0 + $1.count }
        for extent in extents {
            // Nested extents have their uses counted once for each.
            guard count <= Self.limit else { throw Self.tooMany }
            count += try self.count(within: extent, depth: depth + 1)
        }
        guard count <= Self.limit else { throw Self.tooMany }
        counts[target] = count
        return count
    }

    /// The elements that the uses within an extent add.
    private mutating func count(within extent: Range<Int>, depth: Int) throws(ImageFault) -> Int {
        var low = 0
        var high = uses.count
        while low < high {
            let middle = (low + high) / 2
            if uses[middle].element < extent.lowerBound { low = middle + 1 } else { high = middle }
        }
        var count = 0
        while low < uses.count, uses[low].element < extent.upperBound {
            count += try self.count(of: uses[low].target, depth: depth)
            guard count <= Self.limit else { throw Self.tooMany }
            low += 1
        }
        return count
    }

    /// A value without white space, which readers remove or normalize in several ways.
    private static func identifier(_ value: Range<Int>, in bytes: RawSpan) throws(ImageFault) -> [UInt8] {
        var identifier: [UInt8] = []
        var characters = XMLCharacters(value)
        while let character = try characters.next(in: bytes) {
            guard character != XMLCharacters.beyondASCII else { throw encoded }
            if character > 0x20 { identifier.append(character) }
        }
        return identifier
    }
}
