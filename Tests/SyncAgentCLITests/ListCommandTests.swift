// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("The icons of a list")
struct ListCommandTests {
    @Test("an icon is shown as ready only while its image is on disk")
    func missing() async throws {
        try await withTemporaryFolder { folder in
            func app(_ text: String, previous: AppListDocument.Previous? = nil) -> AppListDocument.App {
                let image = AppListDocument.Image(
                    suffix: "png", sha256: .of(text), bytes: 1, type: "image/png", width: 1, height: 1)
                return AppListDocument.App(
                    name: text, icon: "https://e.org/i", download: nil, state: .ready(image), previous: previous)
            }
            let previous = AppListDocument.Previous(icon: "https://e.org/old", since: nil, error: "http-404")
            let source = AppListDocument.Source(sha256: .of("l"), bytes: 1, modified: .distantPast)
            let document = AppListDocument(
                list: "a.plist", source: source, apps: [app("there"), app("gone"), app("moved", previous: previous)])
            let path = folder.pushing(FilePath(CacheLayout.image(.of("there"), suffix: "png")))
            try makeFolder(folder.appending("icons"))
            try makeFolder(path.removingLastComponent())
            try write("there", to: path)
            let shown = document.withoutMissing(in: folder)
            #expect(shown.apps[0] == document.apps[0])
            #expect(shown.apps.dropFirst().map(\.state) == [.pending, .failed(error: "http-404")])
            #expect(shown.apps.allSatisfy { $0.previous == nil })
            #expect(shown.apps.map(\.name) == ["there", "gone", "moved"])
        }
    }
}
