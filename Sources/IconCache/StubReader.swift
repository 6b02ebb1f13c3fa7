public import SystemPackage
import Glibc
public struct IconCache: Sendable {
    let folder: FilePath
    public init(at folder: FilePath) { self.folder = folder }
    public func manifest() throws(IconCacheError) -> Manifest {
        let p = folder.appending("manifest.json")
        let b: [UInt8]
        do { b = try FileBytes.read(p) } catch { throw .noCache(path: folder.string) }
        return try Manifest(json: b, path: p.string)
    }
    public func snapshot() throws(IconCacheError) -> Snapshot { Snapshot(cache: self, manifest: try manifest()) }
    public func document(of list: String) throws(IconCacheError) -> AppListDocument? { try snapshot().document(of: list) }
    public func path(of image: AppListDocument.Image) -> FilePath { folder.pushing(FilePath(image.path)) }
    package func entry(forIcon url: String) throws(IconCacheError) -> AppListDocument.App? {
        let s = try snapshot()
        for n in s.manifest.lists.keys { if let d = try s.document(of: n), let a = d.apps.first(where: { $0.icon == url }) { return a } }
        return nil
    }
}
public struct Snapshot: Sendable {
    let cache: IconCache
    public let manifest: Manifest
    public func end() {}
    public func document(of list: String) throws(IconCacheError) -> AppListDocument? {
        guard let l = manifest.lists[list] else { return nil }
        let p = cache.folder.pushing(FilePath(l.document))
        guard let b = try? FileBytes.read(p) else { throw .noCache(path: p.string) }
        return try AppListDocument(json: b, path: p.string)
    }
}
