// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Testing

@testable import AgentSettings
@testable import Fleet
@testable import HTTPRules
@testable import SyncPlan

/// Values of upstreams.
enum UpstreamSample {
    static let first = url("https://one.example/fleet/")
    static let second = url("https://two.example/")

    static func url(_ text: String) -> UpstreamURL {
        guard let url = UpstreamURL(text) else { preconditionFailure("\(text) is the URL of an upstream") }
        return url
    }

    /// What an upstream has for each URL: the image that a word stands for, or another state; all with these renditions.
    static func contents(
        of url: UpstreamURL = first, _ states: [IconURL: AppListDocument.State], generation: Int = 1,
        published: Timestamp = Sample.start, old: UpstreamIndex? = nil, copies: [AppListDocument.Image] = []
    ) throws -> UpstreamContents {
        let apps = states.sorted { $0.key < $1.key }.map {
            var app = AppListDocument.App(name: nil, icon: $0.key, download: nil, state: $0.value)
            app.renditions = copies.compactMap { copy in
                RenditionSize("\(copy.width)").map { AppListDocument.Rendition(size: $0, image: copy) }
            }
            return app
        }
        let document = AppListDocument(list: "1.plist", source: Sample.source([]), apps: apps)
        let digest = Digest.of("\(url) \(generation) \(states.count)")
        let manifest = Manifest(
            generation: generation, published: published,
            lists: ["1.plist": Manifest.List(sha256: digest, apps: apps.count, ready: 0, pending: 0, failed: 0)])
        let memo = UpstreamMemo(
            url: url.description, published: published, generation: generation, sha256: .of("\(generation)"))
        return UpstreamContents(
            memo, Validators(etag: "\"\(generation)\""), manifest,
            new: [digest: try UpstreamDocument(json: document.text, old: old, renditions: Set(copies.map(\.width)))],
            old: old)
    }

    static func ready(_ word: String) -> AppListDocument.State { .ready(Sample.image(word)) }
}

extension AgentScenario {
    /// Makes an agent that has upstreams, with times in round numbers.
    static func withUpstreams(
        _ urls: [UpstreamURL] = [UpstreamSample.first], triesOnce: Bool = false,
        _ change: (inout Settings.Upstream) -> Void = { _ in }
    ) -> AgentScenario {
        AgentScenario(triesOnce: triesOnce) {
            $0.upstream.urls = urls
            $0.upstream.spread = .zero
            change(&$0.upstream)
        }
    }

    /// Lets time pass until an upstream is looked at.
    mutating func awaitPoll() throws -> UpstreamPoll {
        while polls.isEmpty { try passToNextWake() }
        return polls.removeFirst()
    }

    /// Lets a look at an upstream end, as soon as there is one.
    mutating func finishPoll(_ outcome: UpstreamAnswer.Outcome) throws {
        let poll = try awaitPoll()
        try handle(.polled(UpstreamAnswer(url: poll.url, epoch: poll.epoch, outcome)))
    }

    /// The same with what the upstream has.
    mutating func finishPoll(
        _ states: [IconURL: AppListDocument.State], generation: Int = 1, published: Timestamp? = nil,
        copies: [AppListDocument.Image] = []
    ) throws {
        let poll = try awaitPoll()
        let contents = try UpstreamSample.contents(
            of: poll.url, states, generation: generation, published: published ?? now, old: poll.index,
            copies: copies)
        try handle(.polled(UpstreamAnswer(url: poll.url, epoch: poll.epoch, .accepted(contents))))
    }

    /// What was requested last.
    var target: String? {
        guard let source = requests.last?.source, case .server(let target) = source else { return nil }
        return target.url
    }
}
