// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
import Fleet
import HTTPRules
package import SystemPackage

package enum ExportError: Error, Equatable, Sendable {
    /// The target folder is not empty, and is not an earlier export.
    case foreign(FilePath)
    case insideCache(FilePath, cache: FilePath)
    /// An entry at the target is not a regular file, and is left alone; `isA` says what it is, in words.
    case wrongKind(target: String, path: String, isA: String)
    /// A file of the cache is missing or damaged; `reason` is a clause.
    case damagedSource(path: String, reason: String)
    case newer(target: String, generation: Int, published: Timestamp, than: Int, of: Timestamp)
    /// The target has another manifest of the same generation and time.
    case conflict(target: String, generation: Int, published: Timestamp)
    case laterFormat(target: String, format: Int)
    /// The cache has icons from behind credentials.
    case privateIcons
    case unsigned(target: String)
    /// A copied file is missing, or has another size.
    case incomplete(target: String, path: String)
    /// Another process exports to the target; `by` is its process ID, if known.
    case busy(target: String, by: Int?)
}

extension ExportError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .foreign(let path):
            "\(path) is not empty and is not an earlier export: choose an empty folder, or one that does not exist. "
                + "If it is a copy of an export, make the folder \(ExportLayout.own) in it."
        case .insideCache(let path, let cache):
            "\(path) is in the cache \(cache): choose a folder outside of it."
        case .wrongKind(let target, let path, let kind):
            "\(path) in \(target) is \(kind), not a file: remove it. Nothing was published."
        case .damagedSource(let path, let reason):
            "Cannot export \(path): \(reason). Nothing was published. Run syncagent verify --repair."
        case .newer(let target, let generation, let published, let mine, let ours):
            "\(target) has generation \(generation) of \(published), which is newer than generation \(mine) of \(ours): "
                + "another cache was exported there, or a clock was ahead. Nothing was published. Use one target for each "
                + "cache, or remove \(CacheLayout.manifest) there."
        case .conflict(let target, let generation, let published):
            "\(target) has another generation \(generation) of \(published): another cache was exported there. Nothing was "
                + "published. Use one target for each cache."
        case .laterFormat(let target, let format):
            "\(CacheLayout.manifest) in \(target) has format \(format): export with a newer version of syncagent."
        case .privateIcons:
            "The cache may have icons from behind credentials, which an export would show to everyone: set public = true "
                + "in \(Credentials.file) if they may be, purge the cache, or export one without them. Nothing was published."
        case .unsigned(let target):
            "The manifest in \(target) is signed: agents with its key would refuse one without. Nothing was published. Export "
                + "with --sign, or to another target."
        case .incomplete(let target, let path):
            "\(path) was copied to \(target), but is missing there or has another size. Nothing was published. Try again."
        case .busy(let target, let process):
            "Another export\(process.map { " (process \($0))" } ?? "") is writing to \(target): wait until it ends."
        }
    }
}
