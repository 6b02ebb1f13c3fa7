// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
package import SystemPackage

extension Sample {
    /// Publishes a generation with these documents in a cache folder, whose images nobody looks at.
    package static func publish(_ generation: Int, _ documents: [AppListDocument], in cache: FilePath) throws {
        for name in [CacheLayout.generations, CacheLayout.lists] where (try? cache.appending(name).stat()) == nil {
            try makeFolder(cache.appending(name))
        }
        for document in documents {
            try write(document.text, to: cache.pushing(FilePath(CacheLayout.document(.of(document.json)))))
        }
        let manifest = manifest(generation, documents).text
        try write(manifest, to: cache.pushing(FilePath(CacheLayout.generation(generation))))
        try write(manifest, to: cache.appending(CacheLayout.manifest))
    }
}
