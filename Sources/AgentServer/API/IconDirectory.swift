// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import NIOCore
import Reports
import SyncAgent
import SyncPlan

/// Makes pages of icons, from an index that is kept while clients page through it.
actor IconDirectory {
    /// How long the index is kept after the last page.
    private static let patience: Duration = .seconds(30)
    /// How many icons are requested from the loop at once when a page has only icons in one state.
    private static let batch = 500

    private let agent: RunningAgent
    private var index: IconIndex?
    private var pages = 0
    private var isBusy = false
    private var waiting = CircularBuffer<CheckedContinuation<Void, Never>>()

    init(_ agent: RunningAgent) {
        self.agent = agent
    }

    struct Query: Sendable {
        var list: ListName?
        var state: IconSummary.State?
        var after: String?
        var limit: Int
    }

    /// Makes a page, one at a time: pages for many clients at once would take more memory than their responses may.
    ///
    /// - Returns: The page as JSON text.
    func page(_ query: Query) async throws(APIError) -> String {
        if isBusy { await withCheckedContinuation { waiting.append($0) } } else { isBusy = true }
        defer { if let next = waiting.popFirst() { next.resume() } else { isBusy = false } }
        return try await makePage(query).json.text + "\n"
    }

    private func makePage(_ query: Query) async throws(APIError) -> IconPage {
        let total = await agent.ask { plan -> Int? in
            if let list = query.list, !plan.knows(list: list) { return nil }
            return plan.count(ofIconsIn: query.list, query.state)
        }
        guard let total else { throw .stopping }
        guard let total else { throw .noSuchList }
        guard let index = await newestIndex() else { throw .stopping }
        var place = 0
        if let after = query.after {
            guard let found = index.place(of: after) else {
                throw .badRequest("“after” is not a valid cursor: use “next” from the previous page.")
            }
            place = found
        }
        let list = query.list.flatMap { index.number(of: $0) }
        var page = IconPage(icons: [], next: nil, total: total)
        while page.icons.count < query.limit {
            let missing = query.limit - page.icons.count
            let entries = index.next(from: &place, in: list, atMost: query.state == nil ? missing : Self.batch)
            guard !entries.isEmpty else { return page }
            let found = await agent.ask { [now = agent.now] in $0.summaries(of: entries.map(\.url), now: now) }
            guard let found else { throw .stopping }
            var summaries = found.makeIterator()
            var next = summaries.next()
            for entry in entries {
                guard var summary = next, summary.url == entry.url else { continue }
                next = summaries.next()
                guard query.state == nil || summary.state == query.state else { continue }
                guard page.icons.count < query.limit else { break }
                summary.names = entry.names
                page.icons.append(summary)
            }
        }
        // If this was the last icon, the next page is empty.
        page.next = page.icons.last.map { index.cursor(after: $0.url) }
        return page
    }

    /// The current index, rebuilt if lists changed.
    private func newestIndex() async -> IconIndex? {
        let news = await agent.ask { [version = index?.version] in $0.mentionsVersion == version ? nil : $0.mentions }
        guard let news else { return nil }
        if let news { index = IconIndex(news) }
        pages += 1
        let last = pages
        Task {
            try? await Task.sleep(for: Self.patience)
            drop(after: last)
        }
        return index
    }

    private func drop(after page: Int) {
        if pages == page { index = nil }
    }
}
