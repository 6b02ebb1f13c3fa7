// SPDX-License-Identifier: Apache-2.0
import SyncPlan
import SystemPackage

extension StateStore {
    /// The lists that an agent has stored, read without all that it has stored of icons; none if they cannot be read.
    static func readLists(folder: FilePath) -> [ListMemo] {
        guard let database = try? Database(folder.appending(files[0]), readOnly: true) else { return [] }
        return (try? StoredLists.load(from: database)) ?? []
    }
}
