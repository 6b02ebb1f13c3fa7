// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

extension CacheExpectation {
    /// Very many namings, packed: one takes 56 bytes, and is created on access.
    package struct Namings: Sendable {
        private struct Row {
            let digest: Digest
            let shape: ImageShapes.Shape
            /// The place of the URL in ``texts``; `nil` if there is none.
            let text: UInt32?
        }

        private var rows: [Row] = []
        private var shapes = ImageShapes()
        private var texts = RowBytes()

        package init(_ namings: some Sequence<Naming> = []) {
            for naming in namings { append(naming) }
        }

        /// None yet; the texts of the icons' URLs are shared with their table, unless that changes meanwhile.
        init(of catalog: Catalog) { (shapes, texts) = (catalog.images.shapes, catalog.icons.texts) }

        mutating func append(_ naming: Naming) {
            let text = naming.url.map { UInt32(texts.append($0.text)) }
            rows.append(Row(digest: naming.image.sha256, shape: shapes.shape(of: naming.image), text: text))
        }

        /// Adds an image and an icon of the catalog.
        mutating func append(_ image: ImageTable.Row, of icon: IconID?) {
            rows.append(Row(digest: image.key, shape: image.shape, text: icon.map { UInt32($0.place) }))
        }

        package mutating func reserveCapacity(_ count: Int) { rows.reserveCapacity(count) }

        package func digest(at index: Int) -> Digest { rows[index].digest }

        package func image(at index: Int) -> AppListDocument.Image {
            shapes.image(rows[index].digest, rows[index].shape)
        }

        package func url(at index: Int) -> IconURL? {
            rows[index].text.map { IconURL(texts.text(at: Int($0))) }
        }
    }
}

extension CacheExpectation.Namings: RandomAccessCollection, ExpressibleByArrayLiteral {
    package init(arrayLiteral namings: CacheExpectation.Naming...) { self.init(namings) }

    package var startIndex: Int { 0 }
    package var endIndex: Int { rows.count }

    package subscript(index: Int) -> CacheExpectation.Naming {
        CacheExpectation.Naming(image: image(at: index), url: url(at: index))
    }
}
