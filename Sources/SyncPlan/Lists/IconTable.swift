// SPDX-License-Identifier: Apache-2.0
package import IconCache

/// The records of icons, by URL.
///
/// They lie side by side, and are changed in place. A dictionary would move a record of a hundred bytes at each change, and
/// keep room for as many again.
package struct IconTable: Sendable {
    package typealias Element = (url: IconURL, icon: IconRecord)

    /// Where each record is.
    private var places: [IconURL: Int32] = [:]
    private var elements: [Element] = []

    package init() {}

    package subscript(url: IconURL) -> IconRecord? {
        places[url].map { elements[Int($0)].icon }
    }

    /// Where the record of a URL is, until one is taken out; `nil` if there is none.
    package func index(of url: IconURL) -> Int? { places[url].map { Int($0) } }

    /// The URL that is a key here, for one that equals it: there is no need for the text of both.
    func spelling(of url: IconURL) -> IconURL {
        places[url].map { elements[Int($0)].url } ?? url
    }

    /// The URLs, in any order.
    package var keys: some Collection<IconURL> { elements.lazy.map(\.url) }

    package mutating func reserveCapacity(_ count: Int) {
        places.reserveCapacity(count)
        elements.reserveCapacity(count)
    }

    /// Changes a record in place.
    ///
    /// - Parameters:
    ///   - url: Its URL.
    ///   - new: Makes the record if there is none.
    ///   - change: Changes it.
    /// - Returns: What that gives.
    mutating func update<Result>(
        _ url: IconURL, default new: @autoclosure () -> IconRecord, _ change: (inout IconRecord) -> Result
    ) -> Result {
        let next = Int32(elements.count)
        let place = { (place: inout Int32?) in
            if let place { return place }
            place = next
            return next
        }(&places[url])
        if place == next { elements.append((url, new())) }
        return change(&elements[Int(place)].icon)
    }

    /// Changes a record in place, of which it is known where it is.
    mutating func update<Result>(at index: Int, _ change: (inout IconRecord) -> Result) -> Result {
        change(&elements[index].icon)
    }

    /// Takes a record out; the last one takes its place.
    ///
    /// - Returns: `nil` if there was none.
    mutating func remove(_ url: IconURL) -> IconRecord? {
        guard let place = places.removeValue(forKey: url) else { return nil }
        let last = elements.count - 1
        if place != last {
            elements.swapAt(Int(place), last)
            places[elements[Int(place)].url] = place
        }
        return elements.removeLast().icon
    }
}

extension IconTable: RandomAccessCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { elements.count }
    package subscript(index: Int) -> Element {
        // A record is not copied to look at a part of it.
        _read { yield elements[index] }
    }
}
