// SPDX-License-Identifier: Apache-2.0
import CacheFormat

extension Reconciler {
    /// Takes a folder that was listed for the lists folder, unless there is reason to doubt that it is.
    ///
    /// A folder without lists, where another folder had some, is a mount point whose file system is not mounted, or is what
    /// hides the lists, or was made by somebody who is about to fill it.
    ///
    /// - Returns: Why it is doubted; `nil` if it is not.
    mutating func accept(_ found: ListedFolder, isEmpty: Bool, now: Timestamp) -> String? {
        let hasLists = catalog.lists.keys.contains { $0 != Self.pinList }
        if let doubt = found.doubt(isEmpty: isEmpty && hasLists, since: folder) { return doubt }
        if folder != found.identity {
            folder = found.identity
            isFolderUnremembered = true
            rememberSoon(now: now)
        }
        return nil
    }
}

extension ListedFolder {
    /// Why it is doubted that this is the lists folder.
    ///
    /// - Parameters:
    ///   - isEmpty: Whether there is no list in it, although there were some.
    ///   - known: The folder that they were in, if that is known.
    /// - Returns: `nil` if it is not doubted.
    package func doubt(isEmpty: Bool, since known: FolderIdentity?) -> String? {
        guard isEmpty, known?.isSame(as: identity) != true else { return nil }
        return "\(path) is empty, and not the folder that the lists were in: is it mounted? They stay until it is "
            + "back, or there is a list in this one"
    }
}
