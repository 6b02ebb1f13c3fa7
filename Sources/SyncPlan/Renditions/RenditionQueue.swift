// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import DequeModule
import Fleet

/// The images that wait to be rendered, first come, first served, and those that are being rendered.
struct RenditionQueue: Sendable {
    /// An image to render.
    struct Original {
        var image: AppListDocument.Image
        /// One of the URLs that it is shown for.
        var url: IconURL
        /// The lists whose documents show it.
        var lists: Set<ListName>
    }

    private struct Copy: Hashable {
        var original: Digest
        var pixels: Int
    }

    /// The limits of an order: images, their bytes, and the bytes of the renditions that may be made of them.
    private static let most = (images: 32, bytes: 8 << 20, made: 64 << 20)

    /// The images that wait; the digest of each is in ``line`` or ``postponed``.
    private var waiting: [Digest: Original] = [:]
    /// The digests in order; those that no longer wait, or occur twice, are skipped.
    private var line: Deque<Digest> = []
    /// The images that wait for a renderer.
    private var postponed: [Digest] = []
    /// The images of the order under way.
    private var ordered: [Digest: Original] = [:]
    private(set) var isUnderWay = false
    /// Whether the order under way has an image that a renderer is needed for.
    private var isRendering = false
    /// Whether the results of the order count: by now, other rules may apply, or a flush may have lost them.
    private var isOrderValid = true
    /// The copies that upstreams did not have.
    private var misses: Set<Copy> = []

    var hasWaiting: Bool { !waiting.isEmpty }
    /// Whether an image waits for the renderer, or perhaps for a copy, or is being rendered.
    var isInUse: Bool { hasWaiting || isRendering }

    mutating func add(_ original: Original) {
        let digest = original.image.sha256
        if ordered[digest] != nil {
            ordered[digest]?.lists.formUnion(original.lists)
        } else {
            if waiting[digest] == nil { line.append(digest) }
            waiting[digest, default: original].lists.formUnion(original.lists)
        }
    }

    mutating func remove(_ originals: Set<Digest>) {
        for original in originals { (waiting[original], ordered[original]) = (nil, nil) }
    }

    mutating func removeWaiting() { (waiting, line, postponed) = ([:], [], []) }

    /// Removes all originals and misses, and discards the results of the order under way.
    mutating func reset() {
        removeWaiting()
        (ordered, misses, isOrderValid) = ([:], [], false)
    }

    /// Lets copies be taken that an upstream did not have.
    mutating func forgetMisses() { misses = [] }

    // MARK: The order under way

    func isOrdered(_ original: Digest) -> Bool { ordered[original] != nil }

    /// Discards the results of the order when it ends.
    mutating func invalidateOrder() { isOrderValid = false }

    /// Begins an order with the images that are next; `nil` if there are none, unless the order is also a question.
    ///
    /// If the order may not render, it contains only images whose renditions can all be copied from upstreams.
    mutating func begin(
        _ order: RenderOrder, isQuestion: Bool, missing: (Digest) -> [Int],
        copyOf copy: (_ original: Digest, _ pixels: Int) -> UpstreamRequest?
    ) -> RenderOrder? {
        var order = order
        fill(&order, missing: missing, copyOf: copy)
        guard !order.items.isEmpty || isQuestion else { return nil }
        (isUnderWay, isOrderValid) = (true, true)
        return order
    }

    private mutating func fill(
        _ order: inout RenderOrder, missing: (Digest) -> [Int], copyOf copy: (Digest, Int) -> UpstreamRequest?
    ) {
        if order.mayRender {
            line.append(contentsOf: postponed)
            postponed = []
        }
        var (bytes, made) = (0, 0)
        while order.items.count < Self.most.images, bytes < Self.most.bytes, made < Self.most.made,
            let digest = line.popFirst()
        {
            guard let original = waiting[digest], case let pixels = missing(digest), !pixels.isEmpty else {
                waiting[digest] = nil
                continue
            }
            var item = RenderOrder.Item(original.image, pixels: pixels)
            for size in pixels where !misses.contains(Copy(original: digest, pixels: size)) {
                item.copies[size] = copy(digest, size)
            }
            guard order.mayRender || item.copies.count == pixels.count else {
                postponed.append(digest)
                continue
            }
            if item.copies.count < pixels.count { isRendering = true }
            waiting[digest] = nil
            ordered[digest] = original
            order.items.append(item)
            bytes += original.image.bytes
            made += pixels.reduce(0) { $0 + 4 * $1 * $1 }
        }
    }

    /// Ends the order; returns its originals, and whether its results count.
    ///
    /// `missed` are the copies that upstreams did not have.
    mutating func end(missed: [Digest: Set<Int>]) -> (originals: [Digest: Original], isValid: Bool) {
        (isUnderWay, isRendering) = (false, false)
        for (original, pixels) in missed { misses.formUnion(pixels.map { Copy(original: original, pixels: $0) }) }
        defer { ordered = [:] }
        return (ordered, isOrderValid)
    }
}
