// SPDX-License-Identifier: Apache-2.0

/// Entropy-coded numbers of a JPEG XL codestream (ISO/IEC 18181-1, annex C): of a color profile, or of an order.
///
/// They are decoded only to find the data after them. Invalid ones throw ``invalid``. A number may take no bits, so the
/// caller limits how many are read.
///
/// - Complexity: O(1) in memory, and in time for each number.
struct JPEGXLNumbers {
    private enum Code {
        case prefix(JPEGXLPrefixCode)
        case frequencies(JPEGXLFrequencies)
    }

    /// How a copy of earlier numbers is coded (LZ77).
    private struct Copies {
        /// The first symbol that begins a copy.
        var first: Int
        var shortest: Int
        var form: JPEGXLNumberForm
    }

    /// The state of a decoder of frequencies after the last number.
    private static let lastState = 0x13 << 16

    private let clusters: [Int]
    private let codes: [(code: Code, form: JPEGXLNumberForm)]
    private let copies: Copies?
    private var state = Self.lastState
    private var window = JPEGXLWindow()
    private var copied = (from: 0, left: 0)

    /// Reads the codes of this many contexts.
    init(contexts: Int, allowsCopies: Bool = true, in bytes: RawSpan, _ bits: inout JPEGXLBits) throws(ImageFault) {
        var copies: Copies?
        if try bits.flag(in: bytes) {
            guard allowsCopies else { throw Self.invalid }
            copies = Copies(
                first: try bits.choice([.just(224), .just(512), .just(4096), .bits(15, from: 8)], in: bytes),
                shortest: try bits.choice([.just(3), .just(4), .bits(2, from: 5), .bits(8, from: 9)], in: bytes),
                form: try JPEGXLNumberForm(logAlphabet: 8, in: bytes, &bits))
        }
        self.copies = copies
        // Distances have a context of their own, the last.
        clusters = try Self.clusters(of: copies == nil ? contexts : contexts + 1, in: bytes, &bits)
        let count = (clusters.max() ?? 0) + 1
        let usesPrefixes = try bits.flag(in: bytes)
        let logAlphabet = usesPrefixes ? 15 : 5 + (try bits.number(2, in: bytes))
        var forms: [JPEGXLNumberForm] = []
        for _ in 0..<count { forms.append(try JPEGXLNumberForm(logAlphabet: logAlphabet, in: bytes, &bits)) }
        var codes: [Code] = []
        if usesPrefixes {
            var lengths: [Int] = []
            for _ in 0..<count { lengths.append(try bits.shortNumber(4, in: bytes) + 1) }
            for length in lengths { codes.append(.prefix(try JPEGXLPrefixCode(of: length, in: bytes, &bits))) }
        } else {
            for _ in 0..<count {
                codes.append(.frequencies(try JPEGXLFrequencies(logAlphabet: logAlphabet, in: bytes, &bits)))
            }
            state = try bits.number(32, in: bytes)
        }
        self.codes = Array(zip(codes, forms)).map { (code: $0, form: $1) }
    }

    static var invalid: ImageFault { .malformed("its entropy-coded data is invalid") }

    /// The code of each context; several contexts can have one in common.
    private static func clusters(
        of contexts: Int, in bytes: RawSpan, _ bits: inout JPEGXLBits
    ) throws(ImageFault) -> [Int] {
        var clusters = [Int](repeating: 0, count: contexts)
        guard contexts > 1 else { return clusters }
        if try bits.flag(in: bytes) {
            let length = try bits.number(2, in: bytes)
            for index in clusters.indices { clusters[index] = try bits.number(length, in: bytes) }
        } else {
            let areMoved = try bits.flag(in: bytes)
            var numbers = try JPEGXLNumbers(contexts: 1, allowsCopies: contexts > 2, in: bytes, &bits)
            for index in clusters.indices { clusters[index] = try numbers.next(in: 0, of: bytes, &bits) }
            try numbers.end()
            guard clusters.allSatisfy({ $0 < 256 }) else { throw invalid }
            if areMoved { moveBack(&clusters) }
        }
        guard Set(clusters).count == (clusters.max() ?? 0) + 1 else { throw invalid }
        return clusters
    }

    /// Undoes a transform that replaces each number by its place among those used before.
    private static func moveBack(_ numbers: inout [Int]) {
        var recent = Array(0..<256)
        for index in numbers.indices {
            let number = recent.remove(at: numbers[index])
            recent.insert(number, at: 0)
            numbers[index] = number
        }
    }

    /// Reads the next number, in a context.
    mutating func next(in context: Int, of bytes: RawSpan, _ bits: inout JPEGXLBits) throws(ImageFault) -> Int {
        if copied.left == 0 {
            let number = try codedNumber(in: clusters[context], of: bytes, &bits)
            if let number { return number }
        }
        copied.left -= 1
        defer { copied.from += 1 }
        let number = window[copied.from]
        window.add(number)
        return number
    }

    /// Reads a number; `nil` if a copy begins instead.
    private mutating func codedNumber(
        in cluster: Int, of bytes: RawSpan, _ bits: inout JPEGXLBits
    ) throws(ImageFault) -> Int? {
        let symbol = try symbol(in: cluster, of: bytes, &bits)
        guard let copies else { return try codes[cluster].form.number(of: symbol, in: bytes, &bits) }
        if symbol < copies.first {
            let number = try codes[cluster].form.number(of: symbol, in: bytes, &bits)
            window.add(number)
            return number
        }
        let length = try copies.form.number(of: symbol - copies.first, in: bytes, &bits) + copies.shortest
        let last = clusters[clusters.count - 1]
        let code = try self.symbol(in: last, of: bytes, &bits)
        let distance = try codes[last].form.number(of: code, in: bytes, &bits) + 1
        copied = (from: window.count - min(distance, window.count, JPEGXLWindow.size), left: length)
        return nil
    }

    private mutating func symbol(
        in cluster: Int, of bytes: RawSpan, _ bits: inout JPEGXLBits
    ) throws(ImageFault) -> Int {
        switch codes[cluster].code {
        case .prefix(let code): try code.symbol(in: bytes, &bits)
        case .frequencies(let code): try code.symbol(in: bytes, &bits, &state)
        }
    }

    /// Checks that the last number was read.
    func end() throws(ImageFault) {
        guard state == Self.lastState else { throw Self.invalid }
    }
}

/// The last numbers that were read, from which copies are made.
///
/// It takes memory only as numbers are added, and never more than its size.
struct JPEGXLWindow {
    static let size = 1 << 20

    /// The number of all numbers that were added.
    private(set) var count = 0
    /// The last numbers; a ring, once it is full.
    private var numbers: [UInt32] = []

    /// The number at an index among all that were added; one of the last, or 0 before there is any.
    subscript(index: Int) -> Int {
        index < count ? Int(numbers[index % Self.size]) : 0
    }

    mutating func add(_ number: Int) {
        // Decoders keep 32 bits, too.
        let number = UInt32(truncatingIfNeeded: number)
        if count < Self.size { numbers.append(number) } else { numbers[count % Self.size] = number }
        count += 1
    }
}

/// Which numbers have a symbol of their own; others are a symbol for their highest and lowest bits, and the rest.
struct JPEGXLNumberForm {
    private let split: Int
    private let high: Int
    private let low: Int

    init(logAlphabet: Int, in bytes: RawSpan, _ bits: inout JPEGXLBits) throws(ImageFault) {
        func part(upTo most: Int, _ bits: inout JPEGXLBits) throws(ImageFault) -> Int {
            let part = try bits.number(Int.bitWidth - most.leadingZeroBitCount, in: bytes)
            guard part <= most else { throw JPEGXLNumbers.invalid }
            return part
        }
        split = try part(upTo: logAlphabet, &bits)
        guard split < logAlphabet else {
            (high, low) = (0, 0)
            return
        }
        high = try part(upTo: split, &bits)
        low = try part(upTo: split - high, &bits)
    }

    func number(of symbol: Int, in bytes: RawSpan, _ bits: inout JPEGXLBits) throws(ImageFault) -> Int {
        let first = 1 << split
        guard symbol >= first else { return symbol }
        let count = split - high - low + (symbol - first) >> (high + low)
        guard count < 30 else { throw JPEGXLNumbers.invalid }
        let top = symbol >> low & (1 << high - 1) | 1 << high
        let rest = try bits.number(count, in: bytes)
        return (top << count | rest) << low | symbol & (1 << low - 1)
    }
}
