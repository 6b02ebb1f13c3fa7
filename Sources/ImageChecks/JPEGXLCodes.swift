// SPDX-License-Identifier: Apache-2.0

/// A code of the entropy-coded data of JPEG XL in which frequent symbols are short (ISO/IEC 18181-1, annex C).
struct JPEGXLPrefixCode {
    private static let order = [1, 2, 3, 4, 0, 5, 17, 6, 16, 7, 8, 9, 10, 11, 12, 13, 14, 15]

    /// The code of the lengths, from 0 to 5, of the codes for other lengths.
    private static let lengthCode = JPEGXLPrefixCode(lengths: [2, 4, 3, 2, 2, 4])

    /// The number of codes of each length, from 1 bit.
    private var counts: [Int]
    /// The symbols in the order of their codes; a single symbol takes no bits.
    private var symbols: [Int]

    /// Reads the code of an alphabet.
    init(of alphabet: Int, in bytes: RawSpan, _ bits: inout JPEGXLBits) throws(ImageFault) {
        (counts, symbols) = ([Int](repeating: 0, count: 15), [0])
        guard alphabet > 1 else { return }
        let skipped = try bits.number(2, in: bytes)
        guard skipped != 1 else {
            try readFew(of: alphabet, in: bytes, &bits)
            return
        }
        var left = 32
        var lengths = [Int](repeating: 0, count: 18)
        for index in Self.order[skipped...] where left > 0 {
            lengths[index] = try Self.lengthCode.symbol(in: bytes, &bits)
            if lengths[index] > 0 { left -= 32 >> lengths[index] }
        }
        guard left == 0 || lengths.count(where: { $0 > 0 }) == 1 else { throw JPEGXLNumbers.invalid }
        try bits.spend(symbols: alphabet)
        let code = JPEGXLPrefixCode(lengths: lengths)
        self = JPEGXLPrefixCode(lengths: try Self.lengths(of: alphabet, by: code, in: bytes, &bits))
    }

    /// The code whose symbols have these lengths; 0 means no code.
    private init(lengths: [Int]) {
        var symbols = [[Int]](repeating: [], count: 15)
        for (symbol, length) in lengths.enumerated() where length > 0 { symbols[length - 1].append(symbol) }
        counts = symbols.map(\.count)
        self.symbols = symbols.flatMap { $0 }
    }

    /// Reads up to four symbols.
    private mutating func readFew(
        of alphabet: Int, in bytes: RawSpan, _ bits: inout JPEGXLBits
    ) throws(ImageFault) {
        symbols = []
        for _ in 0...(try bits.number(2, in: bytes)) {
            symbols.append(try bits.number(Int.bitWidth - (alphabet - 1).leadingZeroBitCount, in: bytes))
        }
        guard symbols.allSatisfy({ $0 < alphabet }), Set(symbols).count == symbols.count else {
            throw JPEGXLNumbers.invalid
        }
        switch symbols.count {
        case 1: break
        case 2:
            symbols.sort()
            counts[0] = 2
        case 3:
            symbols[1...].sort()
            (counts[0], counts[1]) = (1, 2)
        default:
            if try bits.flag(in: bytes) {
                symbols[2...].sort()
                (counts[0], counts[1], counts[2]) = (1, 1, 2)
            } else {
                symbols.sort()
                counts[1] = 4
            }
        }
    }

    /// Reads the lengths of all codes, which are coded themselves.
    private static func lengths(
        of alphabet: Int, by code: JPEGXLPrefixCode, in bytes: RawSpan, _ bits: inout JPEGXLBits
    ) throws(ImageFault) -> [Int] {
        var lengths: [Int] = []
        var left = 1 << 15
        var previous = 8
        var run = (length: 0, count: 0)
        while lengths.count < alphabet, left > 0 {
            let symbol = try code.symbol(in: bytes, &bits)
            guard symbol >= 16 else {
                run.count = 0
                lengths.append(symbol)
                if symbol > 0 {
                    previous = symbol
                    left -= (1 << 15) >> symbol
                }
                continue
            }
            // A run of the previous length or of zeros, or the next digit of its count.
            let length = symbol == 16 ? previous : 0
            let digit = symbol - 14
            let before = run.length == length ? run.count : 0
            run = (length, (before > 0 ? (before - 2) << digit : 0) + (try bits.number(digit, in: bytes)) + 3)
            let more = run.count - before
            guard more <= alphabet - lengths.count else { throw JPEGXLNumbers.invalid }
            lengths += repeatElement(length, count: more)
            if length > 0 { left -= more << (15 - length) }
        }
        guard left == 0 else { throw JPEGXLNumbers.invalid }
        return lengths
    }

    func symbol(in bytes: RawSpan, _ bits: inout JPEGXLBits) throws(ImageFault) -> Int {
        if symbols.count == 1 { return symbols[0] }
        var (code, first, index) = (0, 0, 0)
        for count in counts {
            code = code << 1 | (try bits.number(1, in: bytes))
            if code - first < count { return symbols[index + code - first] }
            first = (first + count) << 1
            index += count
        }
        throw JPEGXLNumbers.invalid
    }
}

/// Frequencies of symbols, by which a state is decoded to them (asymmetric numeral systems; annex C).
///
/// They add up to 4096. The values below that are divided evenly among entries, each of which has those of its own
/// symbol first, and then those of one other, more frequent symbol.
struct JPEGXLFrequencies {
    private struct Entry {
        /// The number of values that stand for its own symbol.
        var own: Int
        var other = 0
        /// The number to add to a value of the other symbol.
        var shift = 0
    }

    private static let sum = 1 << 12

    private let frequencies: [Int]
    private let entries: [Entry]
    private let logEntry: Int

    /// Reads the frequencies of an alphabet.
    init(logAlphabet: Int, in bytes: RawSpan, _ bits: inout JPEGXLBits) throws(ImageFault) {
        try bits.spend(symbols: 1 << logAlphabet)
        var frequencies = try Self.frequencies(in: bytes, &bits)
        while frequencies.last == 0 { frequencies.removeLast() }
        guard frequencies.count <= 1 << logAlphabet else { throw JPEGXLNumbers.invalid }
        frequencies += repeatElement(0, count: 1 << logAlphabet - frequencies.count)
        logEntry = 12 - logAlphabet
        self.frequencies = frequencies
        entries = Self.entries(of: frequencies, sharing: 1 << logEntry)
    }

    private static func frequencies(in bytes: RawSpan, _ bits: inout JPEGXLBits) throws(ImageFault) -> [Int] {
        if try bits.flag(in: bytes) {
            let hasTwo = try bits.flag(in: bytes)
            let first = try bits.shortNumber(3, in: bytes)
            let second = hasTwo ? try bits.shortNumber(3, in: bytes) : first
            guard hasTwo == (first != second) else { throw JPEGXLNumbers.invalid }
            var frequencies = [Int](repeating: 0, count: max(first, second) + 1)
            frequencies[first] = hasTwo ? try bits.number(12, in: bytes) : sum
            if hasTwo { frequencies[second] = sum - frequencies[first] }
            return frequencies
        }
        if try bits.flag(in: bytes) {
            let count = try bits.shortNumber(3, in: bytes) + 1
            return (0..<count).map { sum / count + ($0 < sum % count ? 1 : 0) }
        }
        var length = 0
        while length < 3, try bits.flag(in: bytes) { length += 1 }
        let precision = (try bits.number(length, in: bytes) | 1 << length) - 1
        guard precision <= 13 else { throw JPEGXLNumbers.invalid }
        return try frequencies(of: try bits.shortNumber(3, in: bytes) + 3, precision: precision, in: bytes, &bits)
    }

    /// Reads the frequencies of `count` symbols: their lengths in bits, or runs; then their bits.
    private static func frequencies(
        of count: Int, precision: Int, in bytes: RawSpan, _ bits: inout JPEGXLBits
    ) throws(ImageFault) -> [Int] {
        var lengths: [Int] = []
        var runs: [Int: Int] = [:]
        // The first symbol with the longest frequency, which gets the values that the others leave.
        var rest: Int?
        while lengths.count < count {
            let length = try self.length(in: bytes, &bits)
            if length == 13 {
                let run = try bits.shortNumber(3, in: bytes) + 4
                runs[lengths.count] = run
                lengths += repeatElement(0, count: run)
            } else {
                if rest.map({ lengths[$0] < length }) ?? true { rest = lengths.count }
                lengths.append(length)
            }
        }
        guard let rest else { throw JPEGXLNumbers.invalid }
        var frequencies: [Int] = []
        while frequencies.count < count {
            let index = frequencies.count
            if let run = runs[index] {
                frequencies += repeatElement(frequencies.last ?? 0, count: min(run, count - index))
            } else if index == rest || lengths[index] == 0 {
                frequencies.append(0)
            } else {
                let digits = lengths[index] - 1
                let known = max(0, min(digits, precision - (12 - digits) >> 1))
                frequencies.append(1 << digits + (try bits.number(known, in: bytes)) << (digits - known))
            }
        }
        frequencies[rest] = sum - frequencies.reduce(0, +)
        guard frequencies[rest] > 0 else { throw JPEGXLNumbers.invalid }
        return frequencies
    }

    /// Reads the length of a frequency, 13 for a run.
    private static func length(in bytes: RawSpan, _ bits: inout JPEGXLBits) throws(ImageFault) -> Int {
        switch try bits.number(3, in: bytes) {
        case 0: return 10
        case 2: return 7
        case 3: return try bits.flag(in: bytes) ? 1 : 3
        case 4: return 6
        case 5: return 8
        case 6: return 9
        case 7: return try bits.flag(in: bytes) ? 2 : 5
        default:
            if try bits.flag(in: bytes) { return 4 }
            if try bits.flag(in: bytes) { return 0 }
            if try bits.flag(in: bytes) { return 11 }
            return try bits.flag(in: bytes) ? 13 : 12
        }
    }

    /// Fills the entries: those of rare symbols with values of frequent ones.
    private static func entries(of frequencies: [Int], sharing size: Int) -> [Entry] {
        if let only = frequencies.firstIndex(of: sum) {
            return frequencies.indices.map { Entry(own: 0, other: only, shift: $0 * size) }
        }
        var entries = frequencies.map { Entry(own: $0) }
        var over = entries.indices.filter { entries[$0].own > size }
        var under = entries.indices.filter { entries[$0].own < size }
        while let giver = over.popLast(), let taker = under.popLast() {
            entries[giver].own -= size - entries[taker].own
            entries[taker].other = giver
            entries[taker].shift = entries[giver].own - entries[taker].own
            if entries[giver].own < size { under.append(giver) }
            if entries[giver].own > size { over.append(giver) }
        }
        return entries
    }

    func symbol(in bytes: RawSpan, _ bits: inout JPEGXLBits, _ state: inout Int) throws(ImageFault) -> Int {
        let value = state & (Self.sum - 1)
        let index = value >> logEntry
        let place = value & (1 << logEntry - 1)
        let entry = entries[index]
        let isOwn = place < entry.own
        let symbol = isOwn ? index : entry.other
        state = frequencies[symbol] * (state >> 12) + (isOwn ? place : place + entry.shift)
        if state < 1 << 16 { state = state << 16 | (try bits.number(16, in: bytes)) }
        return symbol
    }
}
