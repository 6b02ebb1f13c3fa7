// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat

/// The apps of a version of a list, each with its icon, what its entry has beside it, and its past; one without a past
/// costs nothing.
struct Apps: Sendable {
    let icons: [IconID]
    let details: EntryDetails
    /// The icons' URLs, while the list waits for images: each of its documents needs them until then.
    var urls: [IconURL]?
    /// By position; empty while no app has a past.
    private var boxes: [Boxed<App.Past>] = []
    private var pastCount = 0

    init(_ icons: [IconID] = [], _ details: EntryDetails = EntryDetails()) {
        (self.icons, self.details) = (icons, details)
    }

    /// The entries with the icons' URLs, which `texts` has.
    func entries(_ texts: RowBytes) -> AppEntries { AppEntries(urls(texts), details) }

    func urls(_ texts: RowBytes) -> [IconURL] { urls ?? icons.map(texts.url(of:)) }

    subscript(past position: Int) -> App.Past {
        get { boxes.isEmpty ? App.Past() : boxes[position].wrappedValue ?? App.Past() }
        set {
            let new = Boxed(wrappedValue: newValue == App.Past() ? nil : newValue)
            if boxes.isEmpty {
                guard new.isFull else { return }
                boxes = Array(repeating: Boxed(wrappedValue: nil), count: icons.count)
            }
            pastCount += (new.isFull ? 1 : 0) - (boxes[position].isFull ? 1 : 0)
            boxes[position] = new
            if pastCount == 0 { boxes = [] }
        }
    }

    /// The pasts of the apps that have one, in order.
    var pasts: some Sequence<(position: Int, past: App.Past)> {
        boxes.enumerated().lazy.compactMap { position, box in box.wrappedValue.map { (position, $0) } }
    }

    /// The last images that apps show, in order.
    var lastImages: [App.LastImage] { pasts.compactMap(\.past.last) }
}
