// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules
import Testing

@testable import SyncPlan

@Suite("The table of icons")
struct IconTableTests {
    @Test("the icon table equals a dictionary after the same changes")
    func model() {
        var generator = SeededGenerator(seed: 7)
        var table = IconTable()
        var model: [IconURL: Bool] = [:]
        for step in 0..<5000 {
            let url: IconURL = "https://h.example/\(Int.random(in: 0..<100, using: &generator))"
            if Bool.random(using: &generator) {
                let isMissing = step % 3 == 0
                let id = table.id(of: url, default: IconRecord())
                table.apply(isMissing ? .lost : .purged, to: id)
                model[url] = isMissing
            } else {
                #expect(table[url]?.wasMissing == model.removeValue(forKey: url))
                if let id = table.id(of: url) { table.remove(id) }
            }
            #expect(table[url]?.wasMissing == model[url] && table.ids.count == model.count)
        }
        let found = table.ids.map { (table.url(of: $0), table[$0].icon.wasMissing) }
        #expect(Dictionary(uniqueKeysWithValues: found) == model)
        #expect(Set(table.urls) == Set(model.keys))
        #expect(table.texts.used == model.keys.reduce(0) { $0 + $1.text.utf8.count })
    }

    /// Changes of random icons; some responses are from their own URLs, some from others, and some from unknown ones.
    @Test("the responses in the icon table equal those in a dictionary after the same changes")
    func responses() {
        var generator = SeededGenerator(seed: 7)
        var table = IconTable()
        var model: [IconURL: StoredResponse] = [:]
        let urls = (0..<50).map { IconURL("https://h.example/é\($0)") }
        for step in 0..<5000 {
            let url = urls.randomElement(using: &generator)!
            let id = table.id(of: url, default: IconRecord())
            let from = [url.text, nil, "", "https://cdn.example/é"].randomElement(using: &generator)!
            let new = StoredResponse(
                url: from, fields: HTTPFields([("ETag", "\(step)")]), requestTime: Sample.start,
                responseTime: Sample.start)
            let answer = IconRecord.Answer(response: PackedResponse(new), freshUntil: Sample.start)
            if !table[id].icon.hasImage { table.apply(.found("x"), to: id) }
            switch Int.random(in: 0..<8, using: &generator) {
            case 0:
                table.apply([.lost, .evicted, .purged].randomElement(using: &generator)!, to: id)
                model[url] = nil
            case 1:
                table.remove(id)
                model[url] = nil
            case 2:
                table.apply(.remembered(answer.response, freshUntil: nil, nil, nil), to: id)
            case 3:
                table.apply(.remembered(answer.response, freshUntil: Sample.start, nil, nil), to: id)
                model[url] = new
            case 4:
                table.apply(.inherited(Sample.id("x"), answer.response, freshUntil: Sample.start), to: id)
                model[url] = new
            case 5:
                table.apply(.queued(at: url), to: id)
                table.apply(.started, to: id)
                table.apply(.ended(.contradicted(Sample.start), trail: nil), to: id)
                model[url] = nil
            case 6:
                let staged = IconRecord.Staged(image: Sample.id("y"), name: "y")
                table.apply(.queued(at: url), to: id)
                table.apply(.started, to: id)
                table.apply(.ended(.staged(staged, answer), trail: nil), to: id)
                #expect(table.response(of: url)?.unpacked == model[url])
                table.apply(.published("y"), to: id)
                model[url] = new
            default:
                table.apply(.confirmed(answer), to: id)
                model[url] = new
            }
            #expect(table.response(of: url)?.unpacked == model[url])
        }
        for url in urls {
            #expect(table.response(of: url)?.unpacked == model[url])
            guard let id = table.id(of: url) else { continue }
            #expect(table.hasResponse(id) == (model[url] != nil) && table.responseURL(of: id) == model[url]?.url)
        }
    }

    @Test("an icon keeps its number while it has a record, a document names it, or its name is to be removed")
    func numbers() {
        var table = IconTable()
        let (a, b) = (table.id(of: "a", default: IconRecord()), table.id(of: "b", default: IconRecord()))
        table.name(table.id(naming: "a"))
        table.remove(a)
        #expect(table["a"] == nil && table.id(of: "a") == nil && table.id(named: "a") == a && table.ids.count == 1)
        let c = table.id(of: "c", default: IconRecord())
        #expect(Set([a, b, c]).count == 3 && table.id(of: "b") == b)
        #expect(table.forgetNaming(of: a) && table.id(named: "a") == a)
        let again = table.id(of: "a", default: IconRecord(isInline: true))
        #expect(again == a && table["a"]?.isInline == true)
        table.remove(a)
        table.forgetName(of: a)
        #expect(table.id(named: "a") == nil && table.id(of: "d", default: IconRecord()) == a)
        #expect(table.id(naming: "c", likely: b) == c && table.id(naming: "c", likely: c) == c)
        table.forgetNames()
        #expect(table.id(named: "c") == nil && Set(table.urls) == ["b", "c", "d"])
    }
}
