// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import SystemPackage

extension CacheFolder {
    /// Whether the folder is empty, or an agent has used it as a cache: it has the agent's tag; or a lock or a damaged
    /// tag, as after a first start that was killed, and only names of a cache.
    ///
    /// Other programs have files named `lock` and `CACHEDIR.TAG`, too. The root of a file system contains `lost+found`
    /// (`mke2fs(8)`).
    var isOurs: Bool {
        get throws(FileError) {
            let names = Set(try names(in: ".").map(\.name)).subtracting(["lost+found"])
            if names.isEmpty || hasOwnTag { return true }
            let marks = [CacheLayout.tag, CacheLayout.lock]
            return !names.isDisjoint(with: marks) && names.isSubset(of: CacheLayout.entries)
        }
    }

    private var hasOwnTag: Bool {
        guard let tag = try? entry(CacheLayout.tag), tag.size < 4096, let text = try? read(CacheLayout.tag) else {
            return false
        }
        return String(decoding: text, as: UTF8.self).contains(bytes: "cache of syncagent")
    }

    /// Creates the missing folders of a cache.
    func makeTree() throws(FileError) {
        for name in [CacheLayout.generations, CacheLayout.lists, CacheLayout.icons, CacheLayout.byURL] {
            try makeFolder(name, mode: Self.openMode)
        }
        try keepingFoldersOpen { () throws(FileError) in
            for name in CacheLayout.fanOut {
                try makeFolder("\(CacheLayout.icons)/\(name)", mode: Self.openMode)
                try makeFolder("\(CacheLayout.byURL)/\(name)", mode: Self.openMode)
            }
        }
        try makeFolder(CacheLayout.staging, mode: [.ownerReadWriteExecute])
    }

    /// Creates the file that marks a cache for backup tools (`CACHEDIR.TAG`), if it is missing; returns whether it was created.
    func makeTag(temporary: String) throws(FileError) -> Bool {
        let text = """
            Signature: 8a477f597d28d172789f06886806bc55
            # This folder is a cache of syncagent: everything in it can be downloaded again.
            # See https://bford.info/cachedir/

            """
        guard try entry(CacheLayout.tag)?.size != Int64(text.utf8.count) else { return false }
        try write(text.utf8, to: temporary, mode: CacheFolder.imageMode)
        try rename(temporary, to: CacheLayout.tag)
        return true
    }
}
