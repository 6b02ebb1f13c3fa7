// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
import Fleet

/// Copies one generation of a cache to a place that other agents can use as an upstream.
///
/// The order keeps the target a valid upstream at every instant: icons and lists first, then the signature, then the
/// manifest, and deletions last; only files that were due before go first. An interrupted export can be repeated at any
/// time, and then does the missing steps.
package struct Export: Sendable {
    package struct Report: Equatable, Sendable {
        package var generation = 0
        package var isUnchanged = false
        /// The number of icons and lists that were copied, and their total size in bytes.
        package var icons = 0
        package var lists = 0
        package var bytes = 0
        /// Whether a signature was written; `false` also if it was at the target already.
        package var isSigned = false
        package var removed = 0
        /// The number of files that the manifest does not name and that stay for now.
        package var unnamed = 0
    }

    private let source: ExportSource
    /// A signature of the cache's manifest; `nil` to export without one.
    private let signature: [UInt8]?
    /// How long a file stays after the last export that named it.
    private let keep: Duration
    /// Whether to compare files at the target by digest, and not only by size.
    private let verifies: Bool

    package init(of source: ExportSource, signature: [UInt8]?, keep: Duration, verifies: Bool) {
        (self.source, self.signature, self.keep, self.verifies) = (source, signature, keep, verifies)
    }

    /// Exports the generation; on return, the target has all files that the manifest names.
    ///
    /// - Throws: ``ExportError``, or an error of the target.
    package func run(to target: some ExportTarget, at now: Timestamp) async throws -> Report {
        var report = Report(generation: source.manifest.generation)
        guard !source.manifest.isPrivate else { throw ExportError.privateIcons }
        var contents = try await target.contents()
        _ = try await order(at: target, contents)
        if !contents.leftovers.isEmpty { try await target.remove(contents.leftovers) }
        let signaturePath = CacheLayout.signature(.of(source.text))
        let kept = Set(source.files.map(\.path) + [signaturePath])
        // A record that cannot be read holds up no publication.
        let record = try? await record(at: target)
        let removedBefore = try await makeRoom(at: target, &contents, record, named: kept, now: now)

        let missing = try await missing(at: target, contents)
        if !missing.isEmpty {
            try await target.add(missing, from: source)
            contents = try await target.contents()
            if let file = contents.missing(of: source.files).first {
                throw ExportError.incomplete(target: target.name, path: file.path)
            }
        }
        report.icons = missing.count { $0.isIcon }
        report.lists = missing.count - report.icons
        report.bytes = missing.reduce(0) { $0 + $1.bytes }

        if let signature {
            try check(signaturePath, at: target, contents)
            if try await target.read(signaturePath) != signature {
                try await target.put(signature, at: signaturePath)
                report.isSigned = true
            }
        }

        // The names of these files may not be durable yet, after an export that was interrupted or could not flush.
        let named = source.files.map(\.path) + (signature == nil ? [] : [signaturePath])
        try await target.settle(named + (contents.sizes[CacheLayout.manifest] == nil ? [] : [CacheLayout.manifest]))
        // Another export may have replaced the manifest meanwhile.
        report.isUnchanged = try await order(at: target, contents) == .same
        if !report.isUnchanged {
            // Otherwise the next export would take a file for unnamed since then, if this one ends before its last step.
            if let known = record?.leavingOut(kept), known != record {
                try? await target.put(known.text, at: ExportLayout.record)
            }
            try await target.put(source.text, at: CacheLayout.manifest)
            guard try await order(at: target, contents) == .same else {
                throw ExportError.incomplete(target: target.name, path: CacheLayout.manifest)
            }
        }
        let before = if let record { record } else { try await self.record(at: target) }
        (report.removed, report.unnamed) = try await removeUnnamed(at: target, contents, before, named: kept, now: now)
        report.removed += removedBefore
        return report
    }

    private func missing(at target: some ExportTarget, _ contents: ExportContents) async throws -> [ExportFile] {
        for file in source.files { try check(file.path, at: target, contents) }
        let missing = contents.missing(of: source.files)
        guard verifies else { return missing }
        let present = source.files.filter { contents.sizes[$0.path] == $0.bytes }
        return missing + (try await target.damaged(among: present, of: source))
    }

    private func check(_ path: String, at target: some ExportTarget, _ contents: ExportContents) throws(ExportError) {
        if let kind = contents.others[path] { throw .wrongKind(target: target.name, path: path, isA: kind) }
    }

    /// Compares the manifest with the one at the target.
    ///
    /// - Throws: ``ExportError`` if the target's manifest must not be replaced.
    private func order(at target: some ExportTarget, _ contents: ExportContents) async throws -> ManifestOrder {
        try check(CacheLayout.manifest, at: target, contents)
        guard let bytes = try await target.read(CacheLayout.manifest) else { return .newer }
        let other: Manifest
        do {
            other = try Manifest(json: bytes)
        } catch .unknownFormat(let format) {
            throw ExportError.laterFormat(target: target.name, format: format)
        } catch .damaged {
            // Its followers may require signatures.
            let isSigned = contents.sizes.keys.contains { $0.starts(withBytes: CacheLayout.signatures) }
            if isSigned, signature == nil { throw ExportError.unsigned(target: target.name) }
            return .newer
        }
        let mine = source.manifest
        let order = ManifestOrder(
            (mine.published, mine.generation), after: (other.published, other.generation),
            isSameText: bytes == source.text)
        switch order {
        case .same: return order
        case .newer:
            let isSigned = contents.sizes[CacheLayout.signature(.of(bytes))] != nil
            if isSigned, signature == nil { throw ExportError.unsigned(target: target.name) }
            return order
        case .older:
            throw ExportError.newer(
                target: target.name, generation: other.generation, published: other.published, than: mine.generation,
                of: mine.published)
        case .conflict:
            throw ExportError.conflict(target: target.name, generation: mine.generation, published: mine.published)
        }
    }

    private func record(at target: some ExportTarget) async throws -> UnnamedFiles {
        UnnamedFiles(text: try await target.read(ExportLayout.record) ?? [])
    }

    /// Removes files that have been unnamed for long enough before others are added: the target may be full.
    ///
    /// Files that the target's manifest names stay until it is replaced.
    private func makeRoom(
        at target: some ExportTarget, _ contents: inout ExportContents, _ record: UnnamedFiles?, named: Set<String>,
        now: Timestamp
    ) async throws -> Int {
        guard var unnamed = record else { return 0 }
        let due = unnamed.update(present: contents.sizes.keys, named: named, now: now, keep: keep)
        let hasManifest = contents.sizes[CacheLayout.manifest] != nil
        guard !due.isEmpty, let inForce = hasManifest ? await namesInForce(at: target, besides: named) : [] else {
            return 0
        }
        let removable = due.filter { !inForce.contains($0) }
        guard !removable.isEmpty else { return 0 }
        // A manifest that is not durable may give way to the one before it.
        if hasManifest { try await target.settle([CacheLayout.manifest]) }
        // A target that refuses this may have room nevertheless.
        guard (try? await target.remove(removable)) != nil else { return 0 }
        for path in removable { contents.sizes[path] = nil }
        return removable.count
    }

    /// The files that the target's manifest leads to, and its signature, apart from the contents of documents in `known`;
    /// `nil` if some of them cannot be read.
    private func namesInForce(at target: some ExportTarget, besides known: Set<String>) async -> Set<String>? {
        guard let bytes = try? await target.read(CacheLayout.manifest), let manifest = try? Manifest(json: bytes) else {
            return nil
        }
        var names: Set = [CacheLayout.signature(.of(bytes))]
        for list in manifest.lists.values where !known.contains(list.document) {
            guard let json = try? await target.read(list.document), Digest.of(json) == list.sha256,
                let document = try? AppListDocument(json: json)
            else { return nil }
            names.insert(list.document)
            names.formUnion(document.images.map(\.path))
        }
        return names
    }

    /// Removes files that have been unnamed for long enough, and records the other unnamed ones.
    private func removeUnnamed(
        at target: some ExportTarget, _ contents: ExportContents, _ before: UnnamedFiles, named: Set<String>,
        now: Timestamp
    ) async throws -> (removed: Int, unnamed: Int) {
        var unnamed = before
        let due = unnamed.update(present: contents.sizes.keys, named: named, now: now, keep: keep)
        if !due.isEmpty { try await target.remove(due) }
        if unnamed != before { try await target.put(unnamed.text, at: ExportLayout.record) }
        return (due.count, unnamed.since.count)
    }
}
