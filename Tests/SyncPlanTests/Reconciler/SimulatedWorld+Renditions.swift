// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import HTTPRules
import Reports

@testable import SyncPlan

extension SimulatedWorld {
    mutating func endRendering(succeeds: Bool = false) throws(Violation) {
        guard let order = rendering else { return }
        rendering = nil
        if !succeeds, chance(4) { rendererVersion += 1 }
        var report = RenderReport(version: rendererVersion)
        for item in order.items {
            let digest = item.image.sha256
            switch succeeds ? 99 : Int.random(in: 0..<100, using: &generator) {
            case 0..<100 where !disk.images.contains(digest): report.results[digest] = .damaged
            case 0..<5: report.trouble = "it was killed"
            case 5..<8: report.results[digest] = .failed(RenderFailure(.interrupted, "it was killed"))
            case 8..<12: report.results[digest] = .failed(RenderFailure(.failed, "it died"))
            default:
                var images: [Int: StagedImage] = [:]
                for pixels in item.pixels {
                    lastStaged += 1
                    disk.staging.insert("\(lastStaged)")
                    let image = rendition(of: item.image, pixels, order.fit)
                    images[pixels] = StagedImage(name: "\(lastStaged)", image: image)
                }
                report.results[digest] = .rendered(images)
            }
        }
        record("\(report.results.count) of \(order.items.count) images are rendered")
        try handle(.rendered(report))
    }

    /// What the renderer makes of an image; small ones of different images can be the same.
    private func rendition(
        of image: AppListDocument.Image, _ pixels: Int, _ fit: Settings.Render.Fit
    ) -> AppListDocument.Image {
        if pixels == 16 { return Sample.image("small \(image.sha256.hex.utf8.first ?? 0)") }
        return Sample.rendition(of: image, pixels, by: 2 * rendererVersion + (fit == .inside ? 1 : 0))
    }

    mutating func changeFit() {
        settings.render.fit = settings.render.fit == .inside ? .contain : .inside
    }

    mutating func changeSizes() throws(Violation) {
        let all = ["16", "8@2", "32", "48"].compactMap { RenditionSize($0) }
        settings.render.sizes = all.filter { _ in chance(50) }
        if chance(30) { changeFit() }
        record("sizes are \(settings.render.sizes), \(settings.render.fit)")
        try handle(.configured(settings))
    }

    mutating func endNaming() throws(Violation) {
        guard let naming else { return }
        self.naming = nil
        guard goesWell || !chance(10) else { return try handle(.renditionsNamed(trouble: "the disk is slow")) }
        if let all = naming.all { renditionNames = renditionNames.filter { all.contains($0.key) } }
        for subject in naming.removed { renditionNames[subject] = nil }
        for (subject, name) in naming.names {
            for path in name.paths.values {
                try expect(disk.image(at: path) != nil, "a name would lead to \(path), which is gone")
            }
            let others = name.keepsOthers ? renditionNames[subject] ?? [:] : [:]
            renditionNames[subject] = others.merging(name.paths) { $1 }.filter { naming.sizes.contains($0.key) }
        }
        try handle(.renditionsNamed(trouble: nil))
    }

    /// Checks that all images of a manifest have the renditions that they should, and those their names; returns them.
    func renditions(of manifest: Manifest) throws(Violation) -> Set<Digest> {
        let sizes = settings.render.sizes.sorted()
        var found: Set<Digest> = []
        var names: [RenditionSubject: [RenditionSize: String]] = [:]
        for (name, list) in manifest.lists.sorted(by: { $0.key < $1.key }) {
            for app in disk.documents[list.sha256]?.apps ?? [] {
                guard case .ready = app.state else {
                    try expect(app.renditions.isEmpty, "\(app.icon) has no image, and renditions")
                    continue
                }
                try expect(
                    app.renditions.map(\.size) == sizes, "\(app.icon) of \(name) has \(app.renditions), not \(sizes)")
                if case .ready(let image) = app.state {
                    let wanted = sizes.map { rendition(of: image, $0.pixels, settings.render.fit) }
                    try expect(app.renditions.map(\.image) == wanted, "\(app.icon) of \(name) has old renditions")
                }
                found.formUnion(app.renditions.map(\.image.sha256))
                let paths = Dictionary(app.renditions.map { ($0.size, $0.image.path) }) { first, _ in first }
                if names[.icon(app.icon)] == nil { names[.icon(app.icon)] = paths }
                if let id = app.id, names[.app(ThemeIcon(id))] == nil { names[.app(ThemeIcon(id))] = paths }
            }
        }
        let named = renditionNames.filter { !$0.value.isEmpty }
        try expect(named == names.filter { !$0.value.isEmpty }, "renditions have the names \(named), and not \(names)")
        return found
    }
}
