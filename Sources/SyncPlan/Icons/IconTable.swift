// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules

/// The number of an icon in the ``IconTable``: the URL is hashed where it enters, and the number stands for it from then on.
///
/// It is the icon's as long as there is a record of it, or its `by-url/` name can be there; a later one may get it then.
struct IconID: Hashable, Comparable, Sendable {
    fileprivate let number: UInt32
    /// Its place in the table, and in what has rows beside it.
    var place: Int { Int(number) }

    fileprivate init(_ place: Int) { number = UInt32(place) }

    static func < (a: Self, b: Self) -> Bool { a.number < b.number }
}

/// The icons by URL: those with a record, and those without one that documents on disk name.
///
/// The texts of the URLs are bytes in one buffer; one is made a `String` when it leaves the table.
struct IconTable: Sendable {
    struct Element: Sendable {
        fileprivate(set) var icon = IconRecord()
        fileprivate var hasRecord = false
        /// Whether documents have an image for it, or had one since its `by-url/` name was removed last.
        fileprivate(set) var isNamed = false
        /// How many documents have an image for it; last, where it leaves no gap in the row.
        fileprivate(set) var documents: Int32 = 0

        fileprivate var isVacant: Bool { !hasRecord && !isNamed }
    }

    private var table = Rows<Element>()
    private var index = HashedPlaces()
    private(set) var texts = RowBytes()
    private var responses = IconResponses()

    subscript(url: IconURL) -> IconRecord? { id(of: url).map { table[$0.place].icon } }

    subscript(id: IconID) -> Element {
        // Reading a part of a record does not copy the record.
        _read { yield table[id.place] }
    }

    /// The number of an icon with a record; `nil` if there is none.
    func id(of url: IconURL) -> IconID? {
        place(of: url, url.hashValue).flatMap { table[$0].hasRecord ? IconID($0) : nil }
    }

    /// The URL of an icon, made from its bytes.
    func url(of id: IconID) -> IconURL { texts.url(of: id) }

    private func place(of url: IconURL, _ hash: Int) -> Int? {
        index.place(hash) { texts.has(url.text, at: $0) }
    }

    /// The place of an icon; creates its row if there is none.
    private mutating func place(of url: IconURL) -> Int {
        let hash = url.hashValue
        if let place = place(of: url, hash) { return place }
        let place = table.add(Element())
        index.insert(place, hash)
        texts.write(url.text, at: place)
        return place
    }

    /// The numbers of all icons with a record; unlike a sequence of the records, it does not copy what changes meanwhile.
    var ids: [IconID] { allIDs.filter { table[$0.place].hasRecord } }

    /// The numbers of all icons, also of those without a record.
    var allIDs: [IconID] { table.places.map { IconID($0) } }

    var urls: [IconURL] { ids.map(url(of:)) }

    /// The number of an icon; creates its record if there is none.
    mutating func id(of url: IconURL, default new: @autoclosure () -> IconRecord) -> IconID {
        let place = place(of: url)
        if !table[place].hasRecord { (table[place].icon, table[place].hasRecord) = (new(), true) }
        return IconID(place)
    }

    /// Applies an event to an icon: first to its response, which may be in the answer that the event ends.
    mutating func apply(_ event: IconEvent, to id: IconID) {
        assert(table[id.place].hasRecord, "only an icon with a record changes")
        if let response = table[id.place].icon.response(after: event) {
            responses.set(response, at: id.place, of: texts)
        }
        table[id.place].icon.apply(event)
    }

    /// Removes the record of an icon.
    mutating func remove(_ id: IconID) {
        responses.set(nil, at: id.place, of: texts)
        (table[id.place].icon, table[id.place].hasRecord) = (IconRecord(), false)
        freeIfVacant(id.place)
    }

    private mutating func freeIfVacant(_ place: Int) {
        guard table[place].isVacant else { return }
        index.remove(place, url(of: IconID(place)).hashValue)
        texts.remove(at: place)
        table.remove(at: place)
    }

    // MARK: Responses

    /// The response that brought or confirmed the image on disk, if known.
    func response(of id: IconID) -> PackedResponse? {
        responses.response(at: id.place, of: texts)
    }

    func response(of url: IconURL) -> PackedResponse? { id(of: url).flatMap { response(of: $0) } }

    func hasResponse(_ id: IconID) -> Bool { responses.hasResponse(at: id.place) }

    /// The URL that gave the response, at less cost; `nil` if it is unknown, or there is no response.
    func responseURL(of id: IconID) -> String? { responses.url(at: id.place, of: texts) }

    // MARK: Documents

    /// The number of an icon that a document has an image for, or whose `by-url/` name is still to be removed; `nil` for
    /// other icons.
    func id(named url: IconURL) -> IconID? {
        place(of: url, url.hashValue).flatMap { table[$0].isNamed ? IconID($0) : nil }
    }

    /// The number of an icon that a document has an image for; `likely` is the number of an icon that is probably this one.
    mutating func id(naming url: IconURL, likely: IconID? = nil) -> IconID {
        let place =
            if let likely, texts.has(url.text, at: likely.place) { likely.place } else { place(of: url) }
        table[place].isNamed = true
        return IconID(place)
    }

    /// Counts a document that has an image for the icon (``id(naming:)``).
    mutating func name(_ id: IconID) {
        assert(table[id.place].isNamed, "a document names an icon of the table")
        table[id.place].documents += 1
    }

    /// Counts a document out; returns whether no other document has an image for the icon.
    mutating func forgetNaming(of id: IconID) -> Bool {
        table[id.place].documents -= 1
        return table[id.place].documents == 0
    }

    /// Records that the `by-url/` name of an icon was removed, because no document has an image for it.
    mutating func forgetName(of id: IconID) {
        assert(table[id.place].documents == 0, "no document has an image for the icon")
        table[id.place].isNamed = false
        freeIfVacant(id.place)
    }

    /// Forgets all documents: another cache folder is at the path.
    mutating func forgetNames() {
        for place in table.places {
            (table[place].documents, table[place].isNamed) = (0, false)
            freeIfVacant(place)
        }
    }

    /// The number of bytes that all responses take.
    var bytesOfResponses: Int { responses.used }
}

extension RowBytes {
    /// The URL of an icon in the ``IconTable/texts`` of its table.
    func url(of icon: IconID) -> IconURL { IconURL(text(at: icon.place)) }
}
