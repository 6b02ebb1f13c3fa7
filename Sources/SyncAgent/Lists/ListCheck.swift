// SPDX-License-Identifier: Apache-2.0
package import AgentSettings
package import AppLists
import CacheFormat
import SyncPlan
package import SystemPackage

/// Gives the verdict on property lists wherever they are, as the agent would come to it, and does nothing with them.
package struct ListCheck: Sendable {
    private let parser: ParseHelper
    private let maxBytes: ByteCount

    /// - Parameters:
    ///   - parser: The program `syncagent-parse`.
    ///   - settings: What was configured.
    package init(parser: FilePath, settings: Settings.Lists) {
        self.parser = ParseHelper(executable: parser, limits: ListLimits(settings))
        maxBytes = settings.maxBytes
    }

    package func verdict(on path: FilePath) async -> ListVerdict {
        do throws(ListRejection) {
            let file = try ListFile.open(path, maxBytes: maxBytes)
            defer { try? file.descriptor.close() }
            let verdict = await parser.parse(try ListFile.contents(of: file.descriptor, maxBytes: maxBytes).bytes)
            guard try ListFile.fingerprint(of: file.descriptor) == file.fingerprint else { throw .stillBeingWritten }
            return verdict
        } catch {
            return .failure(error)
        }
    }
}
