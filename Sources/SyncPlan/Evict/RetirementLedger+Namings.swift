// SPDX-License-Identifier: Apache-2.0
import CacheFormat

extension RetirementLedger {
    /// Takes a snapshot from which ``Namings/newest(among:)`` finds the generations that name these URLs.
    func namings(of urls: some Sequence<IconURL>, in catalog: Catalog) -> Namings {
        let urls = Set(urls)
        let named = urls.compactMap { url in catalog.icons.id(named: url).map { ($0, url) } }
        return Namings(
            urls: urls, icons: Dictionary(uniqueKeysWithValues: named), documents: documents, superseded: superseded)
    }

    struct Namings: Sendable {
        fileprivate let urls: Set<IconURL>
        /// The icons that documents have images for, by the numbers that they had at the time.
        fileprivate let icons: [IconID: IconURL]
        fileprivate let documents: [Digest: Document]
        fileprivate let superseded: [Int]

        /// The URLs that the current generation names, or whose image it shows as an app's last one; O(*n*) as for
        /// ``newest(among:)``.
        package func current() -> Set<IconURL> {
            var found: Set<IconURL> = []
            for document in documents.values where document.since != nil {
                found.formUnion(icons.lazy.filter { document.icons.contains($0.key) }.map(\.value))
                found.formUnion(document.apps.lazy.map(\.last.url).filter(urls.contains))
            }
            return found
        }

        /// The newest superseded generation that names each URL, or shows its image as an app's last one.
        ///
        /// Only `chosen` generations count; `nil` for all. O(*n*) in the number of documents on disk, and at most in
        /// that of their URLs.
        func newest(among chosen: Set<Int>? = nil) -> [IconURL: Int] {
            let counted = chosen.map { superseded.filter($0.contains) } ?? superseded
            let documents = documents.values.compactMap { document in
                document.namers(among: counted).last.map { (number: $0, icons: document.icons, apps: document.apps) }
            }
            var found: [IconURL: Int] = [:]
            var (rest, restIcons) = (urls, Set(icons.keys))
            for (number, named, apps) in documents.sorted(by: { $0.number > $1.number }) where !rest.isEmpty {
                let here =
                    restIcons.count < named.count
                    ? restIcons.filter(named.contains) : Set(named.lazy.filter(restIcons.contains))
                restIcons.subtract(here)
                for url in here.compactMap({ icons[$0] }) + apps.map(\.last.url) where rest.contains(url) {
                    found[url] = number
                    rest.remove(url)
                }
            }
            return found
        }
    }
}
