// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Fleet
import Testing

@testable import AgentSettings
@testable import SyncPlan

@Suite("Renditions are copied from upstreams")
struct CopiedRenditionTests {
    private static let icon: IconURL = "https://a.example/1.png"
    /// What the upstream calls the rendition of the image in 48 pixels.
    private static let copy = Sample.rendition(of: Sample.image("mail"), 48, by: 9)

    /// An agent whose upstream has the image and its rendition, and that shows both for a list without digests.
    private static func agent(_ change: (inout Settings) -> Void = { _ in }) throws -> AgentScenario {
        var agent = AgentScenario {
            $0.upstream.urls = [UpstreamSample.first]
            $0.upstream.spread = .zero
            $0.render.sizes = [RenditionSize("48")].compactMap(\.self)
            change(&$0)
        }
        try agent.scan([:])
        try agent.finishRendering()
        try agent.finishPoll([icon: UpstreamSample.ready("mail")], copies: [copy])
        return agent
    }

    /// Lets the image arrive and be published, and returns the copies that are taken for its renditions.
    private static func copies(_ agent: inout AgentScenario) throws -> [Digest] {
        try agent.finish(icon, with: "mail")
        while agent.publication != nil || agent.naming != nil {
            if agent.publication != nil { try agent.finishPublication() }
            if agent.naming != nil { try agent.finishNaming() }
        }
        let items = try #require(agent.renderings.first?.items)
        return items.flatMap { $0.copies.values.map(\.file.sha256) }
    }

    private static func shown(_ agent: AgentScenario, _ list: ListName = "1.plist") throws -> [Digest] {
        let entry = try #require(agent.disk.current?.lists[list])
        return try #require(agent.disk.documents[entry.sha256]).apps.flatMap { $0.renditions.map(\.image.sha256) }
    }

    enum Trust: CaseIterable { case noDigest, digest, signedDigest }

    @Test(
        "an upstream that does not sign has no say in the renditions of an image whose digest a list of this machine gives",
        arguments: Trust.allCases)
    func digest(trust: Trust) throws {
        let key = try PublicKey("RWRYHipIlG89XhPGVChr5wfT7dfbLQ7eCX5aTmIUK+vIeNmEp30a8b2t")
        var agent = try Self.agent {
            if trust == .signedDigest { $0.upstream.publicKeys = [key] }
        }
        try agent.scan("1.plist", Self.icon, expecting: trust == .noDigest ? nil : "mail")
        #expect(try Self.copies(&agent) == (trust == .digest ? [] : [Self.copy.sha256]))
    }

    @Test(
        "renditions that may be copies are named no more, by any list, once a list gives the digest of their original")
    func laterDigest() throws {
        var agent = try Self.agent()
        try agent.scan("1.plist", Self.icon, expecting: nil)
        try agent.scan("2.plist", Self.icon, expecting: nil)
        #expect(try Self.copies(&agent) == [Self.copy.sha256])
        try agent.finishRendering(["mail": .rendered([48: agent.stage(Self.copy)])])
        try agent.finishRenditions()
        #expect(try Self.shown(agent) == [Self.copy.sha256] && Self.shown(agent, "2.plist") == [Self.copy.sha256])
        // The list changes while the agent is stopped.
        try agent.restart()
        try agent.scan("1.plist", Self.icon, expecting: "mail")
        #expect(Set(agent.publication?.documents.map(\.list) ?? []) == ["1.plist", "2.plist"])
        try agent.finishPublication()
        #expect(try Self.shown(agent) == [] && Self.shown(agent, "2.plist") == [])
        try agent.finishRenditions()
        let own = Sample.rendition(of: Sample.image("mail"), 48).sha256
        #expect(try Self.shown(agent) == [own] && Self.shown(agent, "2.plist") == [own])
        // From now on, the digest is known.
        try agent.restart()
        let other = AppEntry(icon: "https://a.example/2.png")
        try agent.scan("1.plist", apps: [AppEntry(icon: Self.icon, expected: .of("mail")), other])
        try agent.finishRenditions()
        #expect(try Self.shown(agent) == [own])
    }

    @Test("no copy replaces a lost rendition of an image whose digest a list gave before a restart")
    func lost() throws {
        var agent = try Self.agent()
        try agent.scan("1.plist", Self.icon, expecting: "mail")
        #expect(try Self.copies(&agent) == [])
        try agent.finishRenditions()
        let own = Sample.rendition(of: Sample.image("mail"), 48)
        #expect(try Self.shown(agent) == [own.sha256])
        agent.disk.images.remove(own.sha256)
        try agent.restart()
        try agent.scan([:])
        try agent.finishPoll([Self.icon: UpstreamSample.ready("mail")], copies: [Self.copy])
        while agent.renderings.first?.items.isEmpty != false { try agent.finishRendering() }
        #expect(agent.renderings.first?.items.flatMap(\.copies.keys) == [])
    }

    @Test("keys for upstreams let copies be taken from then on")
    func keys() throws {
        let key = try PublicKey("RWRYHipIlG89XhPGVChr5wfT7dfbLQ7eCX5aTmIUK+vIeNmEp30a8b2t")
        var agent = try Self.agent()
        var settings = agent.plan.book.settings
        settings.upstream.publicKeys = [key]
        try agent.handle(.configured(settings))
        // The question which renderer there is.
        try agent.finishRendering()
        try agent.finishPoll([Self.icon: UpstreamSample.ready("mail")], generation: 2, copies: [Self.copy])
        try agent.scan("1.plist", Self.icon, expecting: "mail")
        #expect(try Self.copies(&agent) == [Self.copy.sha256])
    }

    @Test("copies that are being taken when a list gives the digest of their original do not count")
    func digestMeanwhile() throws {
        var agent = try Self.agent()
        try agent.scan("1.plist", Self.icon, expecting: nil)
        #expect(try Self.copies(&agent) == [Self.copy.sha256])
        try agent.scan("1.plist", Self.icon, expecting: "mail")
        try agent.finishRendering(["mail": .rendered([48: agent.stage(Self.copy)])])
        try agent.finishRenditions()
        #expect(try Self.shown(agent) == [Sample.rendition(of: Sample.image("mail"), 48).sha256])
    }
}
