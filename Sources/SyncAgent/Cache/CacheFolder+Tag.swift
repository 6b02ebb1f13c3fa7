// SPDX-License-Identifier: Apache-2.0
import CacheFormat

extension CacheFolder {
    /// Creates the file that marks a cache for backup tools, if it is missing.
    ///
    /// - Returns: Whether it was created.
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
