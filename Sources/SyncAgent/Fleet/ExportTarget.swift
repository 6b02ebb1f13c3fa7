// SPDX-License-Identifier: Apache-2.0
package import Fleet

/// A place to export a cache to; ``Export`` decides on the steps and their order.
package protocol ExportTarget: Sendable {
    /// The target's name in messages.
    var name: String { get }

    func contents() async throws -> ExportContents

    /// Reads a small file; `nil` if it does not exist.
    func read(_ path: String) async throws -> [UInt8]?

    /// Copies files from the cache and replaces existing ones. Their names become durable with ``settle(_:)``.
    func add(_ files: [ExportFile], from source: ExportSource) async throws

    /// Makes the names of existing files durable, including those that an interrupted export wrote.
    func settle(_ paths: [String]) async throws

    /// Writes a file durably and replaces any existing one.
    func put(_ bytes: [UInt8], at path: String) async throws

    func remove(_ paths: [String]) async throws

    /// The files whose digests do not match the manifest.
    func damaged(among files: [ExportFile], of source: ExportSource) async throws -> [ExportFile]
}
