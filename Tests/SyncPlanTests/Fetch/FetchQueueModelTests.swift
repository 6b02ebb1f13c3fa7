// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Testing

@testable import SyncPlan

@Suite("The queue of downloads beside a model of it")
struct FetchQueueModelTests {
    /// A queue without an order between lists and between origins.
    private struct Model {
        struct Entry {
            var origin: String
            var list: ListName
            var priority: FetchQueue.Priority
            var number: Int
        }

        var queued: [IconURL: Entry] = [:]
        var active: [IconURL: String] = [:]
        var restrictions: [String: Int] = [:]
        var trusted: Set<String> = []
        var number = 0

        func isBusy(_ origin: String) -> Bool {
            active.values.contains(origin) || queued.values.contains { $0.origin == origin }
        }
        func active(_ origin: String) -> Int { active.values.count { $0 == origin } }
        var untrusted: Int { active.values.count { !trusted.contains($0) } }

        /// Whether a queued URL of this origin may start.
        func mayStart(_ origin: String) -> Bool {
            guard active.count < 8, active(origin) < restrictions[origin] ?? 3 else { return false }
            if trusted.contains(origin) { return true }
            return untrusted < (active(origin) == 0 && restrictions[origin] == nil ? 4 : 2)
        }

        /// Whether it is the first of its list at its origin.
        func isFirst(_ url: IconURL) -> Bool {
            guard let entry = queued[url] else { return false }
            return queued.values.allSatisfy {
                $0.origin != entry.origin || $0.list != entry.list
                    || ($0.priority.rawValue, $0.number) >= (entry.priority.rawValue, entry.number)
            }
        }

        mutating func put(_ url: IconURL, _ origin: String, _ list: ListName, _ priority: FetchQueue.Priority) {
            number += 1
            queued[url] = Entry(origin: origin, list: list, priority: priority, number: number)
        }

        /// Forgets the trust in origins without work.
        mutating func settle() { trusted = trusted.filter(isBusy) }
    }

    @Test("limits, order, counts and trust are those of the model, and no slot stays free", arguments: 0..<60)
    func model(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var queue = FetchQueue(concurrency: 8, perOrigin: 3)
        var model = Model()
        for _ in 0..<400 {
            let url = IconURL("\(Int.random(in: 0..<40, using: &random))")
            let origin = "o\(Int.random(in: 0..<6, using: &random))"
            let list = ListName("l\(Int.random(in: 0..<5, using: &random))")
            switch Int.random(in: 0..<12, using: &random) {
            case 0..<4:
                let priority = FetchQueue.Priority.allCases.randomElement(using: &random) ?? .new
                queue.add(url, origin: origin, list: list, priority: priority)
                if model.queued[url] == nil, model.active[url] == nil { model.put(url, origin, list, priority) }
            case 4:
                queue.remove(url)
                model.queued[url] = nil
            case 5:
                queue.raise(url)
                if let entry = model.queued[url], entry.priority != .awaited {
                    model.put(url, entry.origin, entry.list, .awaited)
                }
            case 6:
                queue.move(url, to: list)
                if let entry = model.queued[url], entry.list != list {
                    model.put(url, entry.origin, list, entry.priority)
                }
            case 7:
                let slots = Int.random(in: 0..<3, using: &random)
                queue.restrict(origin, to: slots)
                model.restrictions[origin] = slots
                model.trusted.remove(origin)
            case 8:
                queue.lift(origin)
                model.restrictions[origin] = nil
                model.trusted.remove(origin)
            case 9:
                queue.trust(origin)
                model.restrictions[origin] = nil
                model.trusted.insert(origin)
            default:
                let url = model.active.keys.sorted().randomElement(using: &random) ?? url
                #expect(queue.finish(url) == model.active.removeValue(forKey: url))
            }
            model.settle()
            for url in Bool.random(using: &random) ? queue.start() : [] {
                #expect(model.isFirst(url) && model.queued[url].map { model.mayStart($0.origin) } ?? false)
                if let entry = model.queued.removeValue(forKey: url) { model.active[url] = entry.origin }
                if queue.activeCount == model.active.count {
                    #expect(!model.queued.values.contains { model.mayStart($0.origin) }, "a slot stays free")
                }
            }
            #expect(Set(queue.activeURLs) == Set(model.active.keys))
            #expect(queue.heldCount == model.queued.values.count { model.restrictions[$0.origin] == 0 })
            #expect(queue.queuedCount == model.queued.count)
            #expect(queue.isEmpty == (model.queued.isEmpty && model.active.isEmpty))
            #expect(queue.isFlowing == !model.trusted.isEmpty)
            #expect((0..<6).allSatisfy { queue.hasWork(of: "o\($0)") == model.isBusy("o\($0)") })
        }
    }
}
