// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
import SystemPackage

extension CacheFolder {
    /// Fails if others can change the folder, or it contains links to other places.
    ///
    /// Images are not checked: an inspection makes those the agent's that have the right bytes.
    ///
    /// - Returns: The permissions that all inner folders for readers give, apart from those of renditions, and the manifest
    ///   does, too: those that the last run gave to new files. Without a manifest, the newest generation counts.
    /// - Throws: ``FolderError``, or ``FileError`` if the folder cannot be read.
    @discardableResult
    func checkTrust() throws -> FilePermissions {
        let trust = FolderTrust(root: path)
        try trust.check(descriptor, onlyNames: [CacheLayout.lock])
        let fans = [CacheLayout.icons, CacheLayout.byURL]
        let folders = [CacheLayout.generations, CacheLayout.lists, CacheLayout.staging] + fans
        // That of the folder itself does not count: systemd sets it at each start (CacheDirectoryMode=).
        var common = FilePermissions(rawValue: 0o777)
        // Each folder is checked before its contents.
        for name in folders + fans.flatMap({ fan in CacheLayout.fanOut.map { "\(fan)/\($0)" } }) {
            guard let status = try status(name) else { continue }
            try trust.check(status, of: name, as: .folder)
            if name != CacheLayout.staging { common.formIntersection(FilePermissions(rawValue: status.st_mode)) }
        }
        var files = [CacheLayout.manifest, CacheLayout.tag]
        for folder in [CacheLayout.generations, CacheLayout.lists] where try status(folder) != nil {
            files += try names(in: folder).map { "\(folder)/\($0.name)" }
        }
        for name in files {
            if let status = try status(name) { try trust.check(status, of: name, as: .file) }
        }
        var last = try status(CacheLayout.manifest)
        if last == nil, try status(CacheLayout.generations) != nil, let newest = try generationNumbers.max() {
            last = try status(CacheLayout.generation(newest))
        }
        // For a file, only the permissions to read count.
        common.formIntersection(last.map { FilePermissions(rawValue: $0.st_mode | 0o333) } ?? [])
        return common
    }
}
