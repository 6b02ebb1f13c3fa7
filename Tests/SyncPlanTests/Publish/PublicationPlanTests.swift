// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import Testing

@testable import HTTPRules
@testable import SyncPlan

@Suite("Plans of publications")
struct PublicationPlanTests {
    /// A catalog, what its generations name, and the plan of the next one.
    private struct World {
        var catalog = Sample.catalog
        var ledger = RetirementLedger()
        var plan = PublicationPlan(at: Sample.start)

        /// Puts a list in force, as a change that is to be published.
        mutating func set(_ list: ListName, _ urls: [IconURL]) {
            let published = catalog.lists[list]?.published
            let diff = catalog.setList(list, Sample.list(urls))
            catalog.updateList(list) { $0.published = published }
            if !diff.removed.isEmpty { plan.prioritize(list) }
            plan.window.markChanged(list, at: Sample.start)
        }

        mutating func stage(_ url: IconURL, _ word: String) {
            for event in [IconEvent.queued(at: "https://h/a"), .started, .staged(word)] {
                catalog.apply(event, to: url)
            }
            if let id = catalog.icons.id(of: url) { plan.staged.insert(id) }
        }

        mutating func begin(at seconds: Int = 0) -> Publication? {
            plan.begin(&catalog, ledger, Renditions(Settings()), during: .none, at: Sample.start + .seconds(seconds))
        }

        /// The same, where there is something to publish.
        mutating func publication(at seconds: Int = 0) throws -> Publication {
            let publication = begin(at: seconds)
            return try #require(publication)
        }

        /// Has what is being published be in force.
        mutating func succeed(doubt: String? = nil) {
            let done = plan.endInFlight()
            var manifest = Manifest(
                generation: done.publication.generation, published: Sample.start, lists: done.publication.kept)
            var documents: [Digest: AppListDocument] = [:]
            for document in done.publication.documents {
                let digest = Digest.of(document.json)
                documents[digest] = document
                let list = Manifest.List(sha256: digest, apps: 0, ready: 0, pending: 0, failed: 0)
                manifest.lists[document.list] = list
                catalog.updateList(document.list) { $0.published = list }
            }
            let images = Set(done.staged.compactMap { catalog.images.digest(catalog.icons[$0].icon.staged?.image) })
            ledger.publish(manifest, newDocuments: documents, moved: images, in: &catalog, at: Sample.start)
            for icon in done.staged { catalog.apply(.published(bytes: 0, generation: nil), to: icon) }
            plan.finish(done, manifest, written: WrittenBytes(), doubt: doubt, at: Sample.start)
        }
    }

    @Test("a generation has the lists that changed, and what the manifest says of the others")
    func lists() throws {
        var world = World()
        #expect(world.begin() == nil && world.plan.isSettled)
        world.set("1.plist", ["a"])
        world.set("2.plist", ["b"])
        let first = try world.publication()
        #expect(first.generation == 1 && Set(first.documents.map(\.list)) == ["1.plist", "2.plist"])
        #expect(world.plan.isToBePublished("1.plist") && !world.plan.isSettled)
        world.succeed()
        #expect(world.plan.isSettled && world.plan.isUpToDate("1.plist", in: world.catalog))
        world.set("2.plist", ["b", "c"])
        let second = try world.publication(at: 60)
        #expect(second.generation == 2 && second.documents.map(\.list) == ["2.plist"])
        #expect(second.kept.keys.map(\.text) == ["1.plist"])
    }

    @Test("an image is moved once, however many icons have it, and not if it is there")
    func images() throws {
        var world = World()
        world.set("1.plist", ["a", "b", "c"])
        world.stage("a", "x")
        world.stage("b", "x")
        let first = try world.publication()
        #expect(first.moves.count == 1 && first.discards.count == 1 && first.links.count == 2)
        world.succeed()
        world.stage("c", "x")
        world.plan.window.markChanged("1.plist", at: Sample.start)
        let second = try world.publication(at: 60)
        #expect(second.moves.isEmpty && second.discards.map(\.name) == ["x"] && second.links.count == 1)
    }

    @Test("an image that replaces another one comes with all lists that show that one, or later")
    func together() throws {
        var world = World()
        world.set("1.plist", ["a"])
        world.set("2.plist", ["a"])
        world.stage("a", "x")
        _ = world.begin()
        world.succeed()
        world.stage("a", "y")
        // The other list has not changed, and is not published.
        world.plan.window.markChanged("1.plist", at: Sample.start)
        let alone = try world.publication(at: 60)
        #expect(alone.moves.isEmpty && alone.documents.map(\.list) == ["1.plist"])
        #expect(alone.documents.first?.apps.first?.state == .ready(Sample.image("x")))
        world.succeed()
        #expect(world.plan.staged.map { world.catalog.icons.url(of: $0) } == ["a"])
        #expect(world.plan.window.isChanged("1.plist"))
        world.plan.window.markChanged("2.plist", at: Sample.start)
        let both = try world.publication(at: 120)
        #expect(both.moves.count == 1 && both.documents.count == 2)
    }

    @Test("a failed publication is pending again, and is reported until a generation is durable")
    func failure() throws {
        var world = World()
        world.set("1.plist", ["a"])
        _ = world.begin()
        world.plan.fail(world.plan.endInFlight(), because: "no", in: world.catalog, at: Sample.start)
        #expect(world.plan.failure == "no" && world.plan.window.isChanged("1.plist") && !world.plan.isInDoubt)
        _ = try world.publication(at: 60)
        world.succeed(doubt: "perhaps not")
        #expect(world.plan.failure == "perhaps not" && world.plan.isInDoubt)
        _ = try world.publication(at: 120)
        world.succeed()
        #expect(world.plan.failure == nil && !world.plan.isInDoubt && world.plan.newest == 3)
    }

    @Test("a publication without room is pending again, without a failure")
    func takeBack() {
        var world = World()
        world.set("1.plist", ["a"])
        world.plan.window.markChanged(at: Sample.start)
        _ = world.begin()
        world.plan.restore(world.plan.endInFlight(), in: world.catalog, at: Sample.start)
        #expect(world.plan.failure == nil && world.plan.window.isManifestChanged)
        #expect(world.plan.window.isChanged("1.plist") && world.plan.rewritten == ["1.plist"])
    }

    @Test("a document that names what is damaged is written whatever it costs, also if it was being published")
    func damage() throws {
        var world = World()
        world.set("1.plist", ["a"])
        world.stage("a", "x")
        _ = world.begin()
        world.succeed()
        world.set("1.plist", [])
        _ = try world.publication(at: 60)
        let lost: Set = [Sample.id("x")]
        let lists = world.plan.recordDamage(
            of: lost, shownBy: [], in: world.catalog, world.ledger, at: Sample.start + .seconds(60))
        #expect(lists.isEmpty, "the document that is being published does not name it")
        world.plan.fail(world.plan.endInFlight(), because: "no", in: world.catalog, at: Sample.start)
        let next = try world.publication(at: 120)
        #expect(next.ignoresRoom)
    }

    @Test("generation numbers continue from the highest number ever used")
    func numbers() throws {
        var world = World()
        world.plan = PublicationPlan(newest: 41, outdated: ["1.plist"], at: Sample.start)
        world.set("1.plist", [])
        let first = try world.publication()
        #expect(first.generation == 42)
        world.succeed()
        world.plan.raiseNewest(to: 100)
        world.plan.raiseNewest(to: 7)
        world.plan.window.markChanged(at: Sample.start)
        let next = try world.publication(at: 60)
        #expect(next.generation == 101)
    }
}
