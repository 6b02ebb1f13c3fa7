// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules
import Testing

@testable import Fleet

@Suite("The index of an upstream's documents")
struct UpstreamIndexTests {
    @Test("an image counts more than a failure, and a failure more than nothing, if documents differ")
    func ranks() throws {
        let icons = (1...3).map { IconURL("https://a.example/\($0).png") }
        let states: [[AppListDocument.State]] = [
            [UpstreamSample.ready("x"), .pending, .failed(error: "http-404")],
            [.pending, .failed(error: "http-404"), UpstreamSample.ready("y")],
        ]
        var documents: [Digest: UpstreamIndex.Document] = [:]
        for (number, states) in states.enumerated() {
            let apps = zip(icons, states).map { AppListDocument.App(name: nil, icon: $0, download: nil, state: $1) }
            let document = AppListDocument(list: "1.plist", source: Sample.source([]), apps: apps)
            documents[.of("\(number)")] = try UpstreamDocument(json: document.text, old: nil).contents
        }
        let index = UpstreamIndex(documents)
        #expect(index[icons[0]] == .ready(UpstreamFile(Sample.image("x"))))
        #expect(index[icons[1]] == .failed(.http(404)))
        #expect(index[icons[2]] == .ready(UpstreamFile(Sample.image("y"))))
        #expect(index["https://a.example/4.png"] == nil)
        #expect(UpstreamIndex(documents) == index)
    }
}
