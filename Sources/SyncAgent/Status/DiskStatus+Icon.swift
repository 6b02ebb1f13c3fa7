// SPDX-License-Identifier: Apache-2.0
package import IconCache
package import SyncPlan
import WebAddresses

extension DiskStatus {
    /// Everything that the folders tell of one URL; `nil` if nothing does.
    ///
    /// - Throws: ``IconCacheError`` if the cache cannot be read.
    package func report(on url: IconURL) throws -> IconReport? {
        var icon = IconRecord(isInline: DataURL(url.text) != nil)
        for document in try publishedDocuments() {
            guard let app = document.apps.first(where: { $0.icon == url }) else { continue }
            icon.lists.append(document.list)
            icon.expected[document.list] = app.expected
            if case .ready(let image) = app.state { icon.image = image }
        }
        let stored = StateStore.read(folder: folders.state)
        let memo = stored?.icons.first { $0.url == url }
        guard icon.isReferenced || memo != nil else { return nil }
        if let memo {
            icon.failure = memo.failure
            icon.trail = memo.trail
            if memo.image == icon.image?.sha256 {
                icon.response = memo.response
                icon.freshUntil = memo.freshUntil
            }
        }
        let origin = (try? FetchTarget(url.text))?.origin
        let health = stored?.origins.first { $0.origin == origin }?.health
        return IconReport(url: url, icon: icon, health: health, now: AgentClock.wallTime)
    }

    private func publishedDocuments() throws -> [AppListDocument] {
        do {
            let snapshot = try IconCache(at: folders.cache).snapshot()
            defer { snapshot.end() }
            return try snapshot.documents()
        } catch {
            guard case .noCache = error else { throw error }
            return []
        }
    }
}
