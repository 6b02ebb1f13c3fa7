// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Testing

@testable import AgentSettings
@testable import SyncPlan

@Suite("Names in by-url/")
struct NameTableTests {
    /// A list that names `a`, which has an image on disk.
    private struct World {
        var catalog = Sample.catalog
        private var plan = PublicationPlan(at: Sample.start)

        init() {
            _ = catalog.setList("1.plist", Sample.list(["a"]))
            catalog.apply(.found("x"), to: "a")
        }

        /// Publishes the list; returns the names that are set, each with the image and the one before.
        mutating func publish(succeeds: Bool = true) -> [[AppListDocument.Image?]] {
            plan.window.markChanged("1.plist", at: Sample.start)
            let images = Dictionary(uniqueKeysWithValues: ["x", "y"].map { (Sample.image($0).path, Sample.image($0)) })
            let publication = plan.begin(
                &catalog, RetirementLedger(), Renditions(Settings()), during: .none, at: Sample.start + .seconds(60))
            _ = plan.endInFlight()
            catalog.names.end(published: succeeds ? [] : nil, in: &catalog.images)
            return publication?.links.map { [images[$0.path], $0.before.flatMap { images[$0] }] } ?? []
        }
    }

    @Test("a name is set once, also if it fails at first")
    func once() {
        var world = World()
        #expect(world.publish().isEmpty)
        world.catalog.names.review("a", in: &world.catalog.images)
        #expect(world.publish(succeeds: false) == [[Sample.image("x"), nil]])
        #expect(world.catalog.names["a"]?.image == nil)
        #expect(world.publish() == [[Sample.image("x"), nil]])
        #expect(world.catalog.names["a"]?.image == Sample.id("x"))
        #expect(world.publish().isEmpty && world.catalog.names.names.isEmpty)
    }

    @Test("a name is not set where it leads to the right image already, unless that file is damaged")
    func damage() {
        var world = World()
        world.catalog.names.review("a", own: Sample.id("x"), in: &world.catalog.images)
        #expect(world.publish().isEmpty && world.catalog.names.names.isEmpty)
        world.catalog.names.review("a", own: Sample.id("x"), in: &world.catalog.images)
        world.catalog.names.recordDamage(of: "a", in: &world.catalog.images)
        #expect(world.catalog.names.damaged(in: world.catalog).isEmpty)
        #expect(world.publish() == [[Sample.image("x"), Sample.image("x")]] && world.publish().isEmpty)
    }

    @Test("the name of a damaged file for which nothing is shown stays known until it is removed")
    func removal() {
        var world = World()
        world.catalog.names.recordDamage(of: "a", in: &world.catalog.images)
        world.catalog.apply(.lost, to: "a")
        #expect(world.publish().isEmpty && world.catalog.names.damaged(in: world.catalog) == ["a"])
        world.catalog.names.forget(["a"], in: &world.catalog.images)
        #expect(world.catalog.names.damaged(in: world.catalog).isEmpty)
    }

    @Test("in another cache folder, it is not known where names lead")
    func reset() {
        var world = World()
        world.catalog.names.restore("a", Sample.id("y"), in: &world.catalog.images)
        #expect(world.publish().isEmpty)
        world.catalog.names.reset(in: &world.catalog.images)
        #expect(world.publish() == [[Sample.image("x"), nil]])
    }
}
