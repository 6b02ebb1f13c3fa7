// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
package import SyncPlan
import SystemPackage

// The names of renditions: links that no generation needs.
extension Publisher {
    /// Sets and removes names of renditions; returns why some could not be set or removed, as a clause.
    package func setNames(_ naming: RenditionNaming) -> String? {
        if let loss { return "\(loss)" }
        do throws(FileError) {
            let failure = try folder.keepingFoldersOpen { () throws(FileError) in
                let failure = setEach(of: naming)
                if let all = naming.all { try removeOthers(than: all, in: naming.sizes) }
                return failure
            }
            try showChange(in: naming)
            if let failure { throw failure }
            return nil
        } catch {
            return "the names of renditions cannot be set: \(error)"
        }
    }

    /// Sets and removes single names; if the file system refuses one, the others are set all the same.
    ///
    /// - Returns: The first failure.
    private func setEach(of naming: RenditionNaming) -> FileError? {
        var failure: FileError?
        for subject in naming.removed {
            for size in naming.sizes { failure = folder.remove(subject.path(size)) ?? failure }
        }
        for (subject, name) in naming.names {
            for size in naming.sizes {
                do throws(FileError) {
                    try set(subject.path(size), name, size)
                } catch {
                    failure = failure ?? error
                }
            }
        }
        return failure
    }

    private func set(_ path: String, _ name: RenditionNaming.Name, _ size: RenditionSize) throws(FileError) {
        if let image = name.paths[size] {
            try setName(path, to: image)
        } else if !name.keepsOthers {
            try folder.discard(path)
        }
    }

    private func setName(_ name: String, to path: String) throws(FileError) {
        if let there = try folder.entry(name), try there.inode == folder.entry(path)?.inode { return }
        do throws(FileError) {
            try folder.replaceLink(path, at: name, temporary: Self.nameTemporary)
        } catch  where error.errno == .noSuchFileOrDirectory {
            let parts = name.split(atByte: "/")
            for end in 1..<parts.count {
                try folder.makeFolder(parts[..<end].joined(separator: "/"), mode: CacheFolder.openMode)
            }
            try folder.replaceLink(path, at: name, temporary: Self.nameTemporary)
        }
    }

    /// Removes all other names, and folders that become empty.
    private func removeOthers(
        than all: Set<RenditionSubject>, in sizes: [RenditionSize]
    ) throws(FileError) {
        var icons: Set<Digest> = []
        var apps: Set<ThemeIcon> = []
        for subject in all {
            switch subject {
            case .icon(let url): icons.insert(.of(url.text))
            case .app(let app): apps.insert(app)
            }
        }
        for (size, folder) in try subfolders(of: CacheLayout.bySize) {
            let isKept = RenditionSize(size).map(sizes.contains) ?? false
            for (_, part) in try subfolders(of: folder) {
                try remove(in: part) { isKept && Digest(hex: $0).map(icons.contains) ?? false }
            }
            self.folder.remove(folder)
        }
        folder.remove(CacheLayout.bySize)
        for (size, folder) in try subfolders(of: CacheLayout.theme) {
            let isKept = sizes.contains { CacheLayout.themeFolder($0) == size }
            try remove(in: "\(folder)/apps") { name in
                isKept && name.ends(withBytes: ".png") && apps.contains(ThemeIcon(name.droppingLast(bytes: 4)))
            }
            self.folder.remove(folder)
        }
        for folder in [CacheLayout.theme, "share/icons", "share"] { self.folder.remove(folder) }
    }

    /// The folders in a folder; none if it does not exist.
    private func subfolders(of name: String) throws(FileError) -> [(name: String, path: String)] {
        guard let status = try folder.status(name), status.st_mode & S_IFMT == S_IFDIR else { return [] }
        var found: [(name: String, path: String)] = []
        for (entry, _) in try folder.names(in: name) {
            let path = "\(name)/\(entry)"
            if let status = try folder.status(path), status.st_mode & S_IFMT == S_IFDIR { found.append((entry, path)) }
        }
        return found
    }

    /// Removes the files of a folder, and the folder if it becomes empty.
    private func remove(in path: String, except isKept: (String) -> Bool) throws(FileError) {
        guard let status = try folder.status(path), status.st_mode & S_IFMT == S_IFDIR else { return }
        for (name, _) in try folder.names(in: path) where !isKept(name) { try folder.discard("\(path)/\(name)") }
        folder.remove(path)
    }

    /// Updates the time of the icon theme's folder, by which programs see that the theme changed.
    ///
    /// An older cache of gtk-update-icon-cache(1) would hide new icons.
    private func showChange(in naming: RenditionNaming) throws(FileError) {
        let isOfApps = (Array(naming.names.keys) + naming.removed).contains {
            if case .app = $0 { true } else { false }
        }
        guard isOfApps, try folder.status(CacheLayout.theme) != nil else { return }
        try folder.discard("\(CacheLayout.theme)/icon-theme.cache")
        try folder.touch(CacheLayout.theme)
    }

    private static let nameTemporary = StagingPath.of("name")
}

extension RenditionSubject {
    /// The path of the rendition's name in a size, relative to the cache folder.
    func path(_ size: RenditionSize) -> String {
        switch self {
        case .icon(let url): CacheLayout.bySize(size, .of(url.text))
        case .app(let app): "\(CacheLayout.theme)/\(CacheLayout.themeFolder(size))/apps/\(app.text).png"
        }
    }
}
