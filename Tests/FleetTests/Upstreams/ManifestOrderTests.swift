// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Fleet
import Testing

@Suite("The order of manifests")
struct ManifestOrderTests {
    @Test(
        "a newer manifest replaces an older one, and the time of publication comes before the number",
        arguments: [
            (42, 100, 41, 90, ManifestOrder.newer), (42, 100, 42, 90, .newer), (43, 100, 42, 100, .newer),
            (41, 90, 42, 100, .older), (42, 90, 42, 100, .older), (41, 100, 42, 100, .older),
            // The cache was purged, and started anew.
            (1, 200, 42, 100, .newer),
            // The clock of the other was ahead.
            (43, 100, 42, 500, .older),
            (42, 100, 42, 100, .conflict),
        ])
    func order(generation: Int, published: Int, other: Int, otherPublished: Int, order: ManifestOrder) {
        func edition(_ generation: Int, _ seconds: Int) -> ManifestOrder.Edition {
            (Timestamp(sinceEpoch: .seconds(seconds)), generation)
        }
        let (mine, theirs) = (edition(generation, published), edition(other, otherPublished))
        #expect(ManifestOrder(mine, after: theirs, isSameText: false) == order)
        #expect(ManifestOrder(mine, after: mine, isSameText: true) == .same)
    }
}
