// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

@Suite("The example of a launcher", .timeLimit(.minutes(5)))
struct LauncherTests {
    @Test("the example of a launcher is shown as it is tested")
    func article() throws {
        let path = FilePath(#filePath).removingLastComponent().pushing("Examples/LauncherModel.swift").string
        let source = try String(contentsOfFile: path, encoding: .utf8)
        let licence = "// SPDX-License-Identifier: Apache-2.0\n"
        #expect(source.hasPrefix(licence))
        #expect(try Article("Launcher").examples(in: "swift").first == String(source.dropFirst(licence.count)))
    }

    @Test("the example of a launcher fills the table in the order of the list, and redraws changed rows")
    func table() async throws {
        try await withCache { @MainActor published in
            let (updates, updating) = AsyncStream.makeStream(of: LauncherModel.Update.self)
            let model = LauncherModel(of: "a", in: published.cache) { updating.yield($0) }
            let images = { model.apps.indices.map(model.image) }
            let task = Task {
                defer { updating.finish() }
                try await model.run()
            }
            defer { task.cancel() }
            var drawn = updates.makeAsyncIterator()

            try published.publish(1, ["a": ["v": nil, "u": "1", "w": nil]])
            #expect(await drawn.next() == .table)
            #expect(model.apps.map(\.icon) == ["v", "u", "w"])
            #expect(images() == [nil, Array("1".utf8), nil])
            try published.publish(2, ["a": ["v": "2", "u": "1", "w": nil]])
            #expect(await drawn.next() == .row(0))
            try published.publish(3, ["a": ["v": "2", "u": "3", "w": nil], "b": ["w": nil]])
            #expect(await drawn.next() == .row(1))
            #expect(images() == [Array("2".utf8), Array("3".utf8), nil])
            model.memoryIsShort()
            #expect(images() == [Array("2".utf8), Array("3".utf8), nil])
            try published.publish(4, ["a": ["u": "3", "v": "2"]])
            #expect(await drawn.next() == .table)
            #expect(images() == [Array("3".utf8), Array("2".utf8)])
            try published.publish(5, [:])
            #expect(await drawn.next() == .table)
            #expect(model.apps.isEmpty)
            task.cancel()
            #expect(await drawn.next() == nil)
        }
    }
}
