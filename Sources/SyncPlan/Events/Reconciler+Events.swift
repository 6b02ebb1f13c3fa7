// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat

// What is told of the decisions, each change once.
extension Reconciler {
    /// Takes the events since they were last taken.
    package mutating func takeEvents() -> [AgentEvent] {
        defer { events = [] }
        return events
    }

    /// Tells of a failure, unless it is the one before again.
    mutating func tell(_ failure: IconRecord.Failure, after last: IconRecord.Failure?, of url: IconURL) {
        guard last?.code != failure.code, let icon = catalog.icons[url], icon.isReferenced else { return }
        events.append(icon.hasImage ? .iconStale(url, failure) : .iconFailed(url, failure))
    }

    /// Tells of a refresh that came to its end after others had failed.
    mutating func noteRecovery(of url: IconURL) {
        guard let icon = catalog.icons[url], icon.isReferenced, icon.hasFailed else { return }
        events.append(.iconFresh(url))
    }

    /// Tells of an image that a generation has, by what its icon was before.
    mutating func notePublished(
        _ image: AppListDocument.Image, of url: IconURL, _ icon: IconRecord, generation: Int
    ) {
        if !icon.isReferenced {
            events.append(.iconRetired(url))
        } else if icon.hasImage {
            events.append(.iconChanged(url, bytes: image.bytes, generation: generation))
        } else {
            events.append(.iconReady(url, bytes: image.bytes, generation: generation))
        }
    }

    /// Tells that a list's file is not accepted, unless it was not for the same reason before.
    mutating func tell(_ rejection: ListRejection, of name: ListName) {
        guard catalog.lists[name]?.rejection != rejection else { return }
        events.append(hasGoodVersion(of: name) ? .listKept(name, rejection) : .listRejected(name, rejection))
    }

    /// The retired icons that new versions of lists name.
    func retiredIcons(in changed: [ListName: ListReading]) -> Set<IconURL> {
        guard !catalog.retired.isEmpty else { return [] }
        var found: Set<IconURL> = []
        for case .success(let list) in changed.values.lazy.map(\.verdict) {
            for entry in list.entries where catalog.retired[entry.icon] != nil { found.insert(entry.icon) }
        }
        return found
    }

    /// Tells of icons that were retired and are named again.
    mutating func noteReturn(of urls: Set<IconURL>) {
        for url in urls.sorted() {
            guard let icon = catalog.icons[url], icon.isReferenced, let image = icon.image else { continue }
            events.append(.iconReady(url, bytes: image.bytes, generation: nil))
        }
    }
}
