// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules
import Testing

@testable import SyncPlan

@Suite("Changes of memos to be stored")
struct MemoChangesTests {
    private func memo(_ url: IconURL, _ failures: Int) -> IconMemo {
        IconMemo(
            url: url, image: nil, freshUntil: Sample.start,
            failure: .init(code: .http(404), message: "", attempts: failures, nextAttempt: nil))
    }

    @Test("the later change of each icon and origin counts, and the others stay")
    func append() {
        var changes = MemoChanges(remembered: [memo("a", 1), memo("b", 1)], forgotten: ["c", "d"])
        let origins = ["o", "p"].map { OriginMemo(origin: $0, health: OriginHealth(failures: 1)) }
        changes.origins = ["o": origins[0], "p": nil]
        let rejections = ["a.plist", "b.plist"].map {
            RejectionMemo(list: $0, code: "empty-file", message: "empty", isKept: false)
        }
        changes.rejections = ["a.plist": rejections[0], "b.plist": nil]
        changes.values = RememberedValues(isPaused: true)
        var later = MemoChanges(remembered: [memo("b", 2), memo("c", 2)], forgotten: ["a"])
        later.origins = ["o": nil, "p": origins[1]]
        later.rejections = ["a.plist": nil, "b.plist": rejections[1]]
        changes.append(later)
        #expect(changes.rejections == later.rejections && changes.origins == later.origins)
        #expect(changes.remembered == [memo("b", 2), memo("c", 2)])
        #expect(changes.forgotten == ["d", "a"])
        #expect(changes.values?.isPaused == true)
        later.values = RememberedValues()
        changes.append(later)
        #expect(changes.values?.isPaused == false)
        changes.append(MemoChanges())
        #expect(changes.remembered.count == 2)
    }

    @Test("the later change of generations and of the hold counts")
    func evictions() {
        let hold = EvictionBrake.Hold(since: Sample.start, generation: 1, images: 30, total: 40)
        var changes = MemoChanges()
        var later = MemoChanges()
        later.superseded = [1: Sample.start, 2: Sample.start]
        later.values = RememberedValues(holds: [hold])
        changes.append(later)
        #expect(changes.superseded == later.superseded && changes.values?.hold == hold)
        later = MemoChanges()
        later.superseded = [1: nil, 3: Sample.start]
        changes.append(later)
        #expect(changes.superseded == [1: nil, 2: Sample.start, 3: Sample.start] && changes.values?.hold == hold)
        later = MemoChanges()
        later.values = RememberedValues()
        changes.append(later)
        #expect(changes.values == RememberedValues())
    }
}
