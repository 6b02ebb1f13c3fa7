// SPDX-License-Identifier: Apache-2.0
package import Fleet
import SyncPlan

/// Where a cache is exported to.
///
/// ``Export`` decides what is done in which order.
package protocol ExportTarget: Sendable {
    /// What messages call it.
    var name: String { get }

    /// Lists what is there, with sizes.
    func contents() async throws -> ExportContents

    /// Reads a small file; `nil` if there is none.
    func read(_ path: String) async throws -> [UInt8]?

    /// Copies files from the cache and replaces existing ones. Their names become durable with ``settle(_:)``.
    func add(_ files: [ExportFile], from source: ExportSource) async throws

    /// Makes the names of files durable that are there, also of those that an interrupted export has written.
    func settle(_ paths: [String]) async throws

    /// Writes a file, in place of whatever has its name. When it returns, it is durable.
    func put(_ bytes: [UInt8], at path: String) async throws

    /// Removes files.
    func remove(_ paths: [String]) async throws

    /// The files whose bytes are not those that the manifest names.
    func damaged(among files: [ExportFile], of source: ExportSource) async throws -> [ExportFile]
}
