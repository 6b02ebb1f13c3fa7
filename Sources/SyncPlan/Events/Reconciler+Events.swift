// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import HTTPRules
package import Reports

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

    /// Tells that a list's file is not accepted, unless that was told before, with the same reason.
    mutating func tell(_ rejection: ListRejection, of name: ListName, now: Timestamp) {
        let memo = RejectionMemo(
            list: name, code: rejection.code.rawValue, message: rejection.message, isKept: hasGoodVersion(of: name))
        guard rejections.updateValue(memo, forKey: name) != memo else { return }
        unstored.note(rejectionOf: name, at: now)
        events.append(memo.isKept ? .listKept(name, rejection) : .listRejected(name, rejection))
    }

    /// Forgets that a list's file was not accepted.
    ///
    /// - Returns: Whether that was told.
    mutating func forgetRejection(of name: ListName, now: Timestamp) -> Bool {
        guard rejections.removeValue(forKey: name) != nil else { return false }
        unstored.note(rejectionOf: name, at: now)
        return true
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
