// SPDX-License-Identifier: Apache-2.0
package import AgentSettings
package import AppLists
import CacheFormat
package import SystemPackage

/// Parses a property list at any path and returns the agent's verdict; changes nothing.
package struct ListCheck: Sendable {
    private let parser: ParseHelper
    private let maxBytes: ByteCount

    /// `isAdopted` says that the list was taken over from an upstream.
    package init(parser: FilePath, settings: Settings.Lists, isAdopted: Bool = false) {
        let limits = ListLimits(settings)
        self.parser = ParseHelper(executable: parser, limits: isAdopted ? limits.ofAdopted : limits)
        maxBytes = isAdopted ? ListLimits.maxAdoptedBytes : settings.maxBytes
    }

    /// The verdict on the bytes of a descriptor from its present offset on, such as standard input.
    package func verdict(onInput input: FileDescriptor) async -> ListVerdict {
        do throws(ListRejection) {
            return await parser.parse(try ListFile.bytes(atMost: maxBytes) { try input.read(into: $1) })
        } catch {
            return .failure(error)
        }
    }

    package func verdict(on path: FilePath) async -> ListVerdict {
        do throws(ListRejection) {
            let file = try ListFile(opening: path, maxBytes: maxBytes)
            defer { file.close() }
            let verdict = await parser.parse(try file.contents(maxBytes: maxBytes).bytes)
            guard try file.isUnchanged else { throw .stillBeingWritten }
            return verdict
        } catch {
            return .failure(error)
        }
    }
}
