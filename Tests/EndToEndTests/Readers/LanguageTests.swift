// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Subprocess
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

/// What all readers have in common, row by row, is tried by `Tests/Conformance/run`.
@Suite("Readers in each language", .timeLimit(.minutes(15)))
struct LanguageTests {
    @Test(
        "the readers in Swift, C, Python and the shell find an icon's image when the agent was killed",
        .enabled(if: Tool.areInstalled("cc", "python3", "jq"), "cc, python3 or jq is missing"))
    func path() async throws {
        try await World.with { world in
            try world.drop(["Mail"])
            try await world.agent.whileRunning(endedBy: .kill) { _ in try await world.published(["Mail"]) }
            let url = world.origin.iconURL("Mail")
            let image = world.agent.cache.appending(CacheLayout.byURL(IconURL(url)))
            let adapters = "\(Article.project)/Tests/Conformance/adapters"
            let reader = world.folder.appending("c-reader").string
            let library = world.folder.appending("library").string
            try await Tool.run(
                "sh", "-c",
                """
                '\(Article.project)/Packaging/libiconcache' '\(library)' &&
                cc -std=c11 -D_GNU_SOURCE -I '\(Article.project)/Sources/LibIconCache' -o '\(reader)' \
                '\(adapters)/c/adapter.c' '\(library)'/usr/lib/*/libiconcache.a
                """)
            for reader in [BuiltProducts.path("SwiftReader").string, reader, "\(adapters)/python", "\(adapters)/shell"]
            {
                let end = try await Program.run(
                    reader, world.agent.cache.string, reading: "{\"ask\":\"path\",\"url\":\"\(url)\"}\n")
                #expect(end.code == 0, "\(reader): \(end.messages)")
                expectContains(end.output, "\"\(image)\"")
            }
        }
    }
}
