// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

extension RetirementLedger {
    package var namings: Namings { Namings(documents: documents, superseded: superseded) }

    /// A snapshot of the URLs that the generations on disk name.
    package struct Namings: Sendable {
        fileprivate let documents: [Digest: Document]
        fileprivate let superseded: [Int]

        /// The newest superseded generation that names each URL, or shows its image as an app's last one.
        ///
        /// Only `chosen` generations count; `nil` for all. O(*n*) in the number of documents on disk, and at most in
        /// that of their URLs.
        package func newest(naming urls: some Collection<IconURL>, among chosen: Set<Int>? = nil) -> [IconURL: Int] {
            let counted = chosen.map { superseded.filter($0.contains) } ?? superseded
            let documents = documents.values.compactMap { document in
                document.namers(among: counted).last.map { (number: $0, urls: document.urls, apps: document.apps) }
            }
            var found: [IconURL: Int] = [:]
            var rest = Set(urls)
            for (number, named, apps) in documents.sorted(by: { $0.number > $1.number }) where !rest.isEmpty {
                let here = rest.count < named.count ? rest.filter(named.contains) : named.filter(rest.contains)
                for url in here + apps.lazy.compactMap(\.last?.url).filter(rest.contains) {
                    found[url] = number
                    rest.remove(url)
                }
            }
            return found
        }
    }
}
