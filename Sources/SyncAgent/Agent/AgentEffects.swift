// SPDX-License-Identifier: Apache-2.0
package import AgentSettings
package import CacheFormat
package import HTTPRules
package import Reports
package import SyncPlan

/// Carries out what ``AgentLoop`` decides: downloads, files, the database.
///
/// Methods that are not `async` return at once and post their results to the loop.
package protocol AgentEffects: Sendable {
    /// Starts downloads; each ends with `.fetched`.
    func begin(_ requests: [FetchRequest])
    func cancel(_ url: IconURL)
    /// Cancels all downloads and returns when the last one has ended.
    func shutDownDownloads() async

    func configure(_ settings: Settings, _ proxies: ProxyPolicy)

    /// Writes images under their final names, ahead of their publication.
    func writeAhead(_ images: [ImageAhead]) async
    /// Scans the lists folder again, which ends with `.scanned`.
    func rescan() async
    /// Performs a job and returns the event that it ends with.
    func perform(_ job: Reconciler.Job) async -> Reconciler.Event

    func discard(_ names: [String]) async
    func discardPartials(of urls: Set<IconURL>) async
    /// Stores changes in the database, all or none; with no changes, checks that the database still exists.
    func store(_ changes: MemoChanges) async -> StoreResult

    /// The generations among these on which readers hold a lease.
    func leases(on generations: [Int]) async -> [EvictionReport.Lease]
}

package enum StoreResult: Equatable, Sendable {
    case stored
    /// The changes are stored in a new database; everything stored before is lost.
    case storedInNewDatabase(StateLoss)
    case failed(reason: String)
}
