// SPDX-License-Identifier: Apache-2.0
package import AgentSettings
package import CacheFormat
package import HTTPRules
package import Reports
package import SyncPlan

/// What ``AgentLoop`` has done outside itself: downloads, files, the database.
///
/// A method that is not `async` returns at once; what comes of it is posted to the loop.
package protocol AgentEffects: Sendable {
    /// Begins downloads; each ends with `.fetched`.
    func begin(_ requests: [FetchRequest])
    /// Cancels a download, which then ends as cancelled.
    func cancel(_ url: IconURL)
    /// Cancels all downloads, and returns when the last one has ended.
    func shutDownDownloads() async

    /// Goes on with other settings: what is begun from now on follows them.
    func configure(_ settings: Settings, _ proxies: ProxyPolicy)

    /// Writes a staged image into `icons/` ahead of its publication.
    func writeAhead(_ image: StagedImage)
    /// Lists the lists folder again, which ends with `.scanned`.
    func listFolder() async
    /// Does a job.
    ///
    /// - Returns: The event that the job ends with.
    func perform(_ job: Reconciler.Job) async -> Reconciler.Event

    /// Removes staged images.
    func discard(_ names: [String]) async
    /// Removes the partial downloads of these URLs.
    func discardPartials(of urls: Set<IconURL>) async
    /// Stores changes in the database, all of them or none; where there are none, sees whether it is still there.
    func store(_ changes: MemoChanges) async -> StoreResult

    /// The generations that readers hold a lease on, out of these.
    func leases(on generations: [Int]) async -> [EvictionReport.Lease]
}

/// What came of storing changes.
package enum StoreResult: Equatable, Sendable {
    case stored
    /// The changes are stored, in a new database: what was stored before is lost.
    case storedInNewDatabase(StateLoss)
    case failed(reason: String)
}
