// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import HTTPRules
package import Reports

extension Reconciler {
    /// Returns the events since the last call.
    package mutating func takeEvents() -> [AgentEvent] {
        defer { events = [] }
        return events
    }

    /// Emits a failure, unless it repeats the last one.
    mutating func tell(_ failure: IconRecord.Failure, after last: IconRecord.Failure?, of url: IconURL) {
        guard last?.code != failure.code, let icon = catalog.icons[url], icon.isReferenced else { return }
        events.append(icon.hasImage ? .iconStale(url, failure) : .iconFailed(url, failure))
    }

    mutating func noteRecovery(of url: IconURL) {
        guard let icon = catalog.icons[url], icon.isReferenced, icon.hasFailed else { return }
        events.append(.iconFresh(url))
    }

    /// Emits the event for a published image, depending on the icon's previous state.
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

    /// Emits a list's rejection, unless it repeats the last one.
    mutating func tell(_ rejection: ListRejection, of name: ListName, now: Timestamp) {
        let memo = RejectionMemo(
            list: name, code: rejection.code.rawValue, message: rejection.message, isKept: hasGoodVersion(of: name))
        guard rejections.updateValue(memo, forKey: name) != memo else { return }
        unstored.note(rejectionOf: name, at: now)
        events.append(memo.isKept ? .listKept(name, rejection) : .listRejected(name, rejection))
    }

    /// Forgets a list's rejection, and returns whether there was one.
    mutating func forgetRejection(of name: ListName, now: Timestamp) -> Bool {
        guard rejections.removeValue(forKey: name) != nil else { return false }
        unstored.note(rejectionOf: name, at: now)
        return true
    }

    func retiredIcons(in changed: [ListName: ListReading]) -> Set<IconURL> {
        guard !catalog.retired.isEmpty else { return [] }
        var found: Set<IconURL> = []
        for case .success(let list) in changed.values.lazy.map(\.verdict) {
            for entry in list.entries where catalog.retired[entry.icon] != nil { found.insert(entry.icon) }
        }
        return found
    }

    mutating func noteReturn(of urls: Set<IconURL>) {
        for url in urls.sorted() {
            guard let icon = catalog.icons[url], icon.isReferenced, let image = icon.image else { continue }
            events.append(.iconReady(url, bytes: image.bytes, generation: nil))
        }
    }
}
