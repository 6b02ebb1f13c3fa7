// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
import FoundationEssentials
package import SystemPackage

/// A folder read as another agent does over a web server: the manifest, the documents that it names, and their images.
package struct UpstreamCheck {
    /// `nil` if there is no manifest.
    package private(set) var manifest: Manifest?
    /// The paths of the documents and images.
    package private(set) var named: Set<String> = []
    /// What is named, and is not there or has other bytes.
    package private(set) var damages: [String] = []

    private let folder: FilePath

    package init(_ folder: FilePath) {
        self.folder = folder
        guard let json = bytes(CacheLayout.manifest) else { return }
        do {
            let manifest = try Manifest(json: json)
            self.manifest = manifest
            for (name, list) in manifest.lists {
                guard let json = expect(list.document, list.sha256) else { continue }
                let document = try AppListDocument(json: json)
                if document.list != name { damages.append("\(list.document) is of \(document.list)") }
                for app in document.apps {
                    if case .ready(let image) = app.state { _ = expect(image.path, image.sha256) }
                }
            }
        } catch {
            damages.append("\(error)")
        }
    }

    private mutating func expect(_ path: String, _ digest: Digest) -> [UInt8]? {
        named.insert(path)
        let bytes = bytes(path)
        if bytes.map({ Digest.of($0) }) == digest { return bytes }
        damages.append("\(path) \(bytes == nil ? "is missing" : "has other bytes")")
        return nil
    }

    private func bytes(_ path: String) -> [UInt8]? {
        (try? Data(contentsOf: URL(filePath: folder.appending(path).string))).map { Array($0) }
    }
}
