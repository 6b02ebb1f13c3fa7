// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Fleet
import HTTPRules
import ImageChecks
import Reports
import SyncPlan

/// Renders images of the cache, and stages the renditions.
struct Renderer: Sendable {
    let helper: RenderHelper
    let folder: CacheFolder
    let staging: Staging
    let downloads: Downloads
    var metrics = AgentMetrics()

    /// Carries out an order; if the task is cancelled, images that are not done are left out.
    func render(_ order: RenderOrder) async -> RenderReport {
        var (staged, missed) = await downloadCopies(of: order.items)
        var rest = order
        for index in rest.items.indices {
            let taken = staged[rest.items[index].image.sha256] ?? [:]
            rest.items[index].pixels.removeAll { taken[$0] != nil }
        }
        rest.items.removeAll { $0.pixels.isEmpty }
        var report = RenderReport()
        if order.mayRender, !rest.items.isEmpty || order.items.isEmpty {
            report = await renderHere(rest, &staged)
        }
        report.missed = missed
        for item in order.items {
            guard let images = staged[item.image.sha256] else { continue }
            if images.count == item.pixels.count, report.results[item.image.sha256] == nil {
                report.results[item.image.sha256] = .rendered(images)
            } else {
                await staging.discard(images.values.map(\.name))
            }
        }
        return report
    }

    /// The most copies that are requested at once.
    private static let concurrency = 4

    /// Downloads renditions that upstreams have.
    ///
    /// Returns them, and those that the upstreams turned out not to have.
    private func downloadCopies(
        of items: [RenderOrder.Item]
    ) async -> (staged: [Digest: [Int: StagedImage]], missed: [Digest: Set<Int>]) {
        var staged: [Digest: [Int: StagedImage]] = [:]
        var missed: [Digest: Set<Int>] = [:]
        var rest = items.lazy.flatMap { item in item.copies.map { (item.image.sha256, $0, $1) } }.makeIterator()
        await withTaskGroup(of: (Digest, Int, StagedImage?).self) { group in
            var count = 0
            while true {
                while count < Self.concurrency, !Task.isCancelled, let (original, pixels, request) = rest.next() {
                    group.addTask { (original, pixels, await downloadCopy(request, atMost: pixels)) }
                    count += 1
                }
                guard let (original, pixels, image) = await group.next() else { return }
                count -= 1
                if let image {
                    staged[original, default: [:]][pixels] = image
                } else {
                    missed[original, default: []].insert(pixels)
                }
            }
        }
        return (staged, missed)
    }

    /// Downloads a rendition from an upstream; `nil` if the upstream no longer has it.
    private func downloadCopy(_ request: UpstreamRequest, atMost pixels: Int) async -> StagedImage? {
        guard request.file.bytes <= RenderAnswer.longest(pixels),
            let document = try? await downloads.document(
                request.file.path, of: request.url, fields: [], maxBytes: request.file.bytes, takesTurns: true
            ).get(),
            document.head.isWhole, Digest.of(document.body) == request.file.sha256
        else { return nil }
        return try? await stage(document.body, atMost: pixels)
    }

    private func renderHere(
        _ order: RenderOrder, _ staged: inout [Digest: [Int: StagedImage]]
    ) async -> RenderReport {
        var report = RenderReport()
        if let shortage = Shortage.ofDescriptors() {
            report.trouble = shortage.reason
            return report
        }
        let killer = HelperKiller()
        let start = ContinuousClock.now
        let work = await withTaskCancellationHandler {
            await onOwnThread("renderer") { helper.render(order, from: folder, killer) }
        } onCancel: {
            killer.kill()
        }
        metrics.recordRendering(images: work.rendered.count, failed: work.failed.count, in: .now - start)
        (report.version, report.programs) = (work.version, work.programs)
        report.trouble = Task.isCancelled ? nil : work.trouble
        for (digest, failure) in work.failed { report.results[digest] = .failed(failure) }
        for digest in work.damaged { report.results[digest] = .damaged }
        for (digest, images) in work.rendered {
            do {
                for (pixels, bytes) in images {
                    staged[digest, default: [:]][pixels] = try await stage(bytes, atMost: pixels)
                }
            } catch let rejection as ImageRejection {
                report.results[digest] = .failed(.init(.failed, "the renderer made no image: \(rejection)"))
            } catch {
                report.trouble = (error as? Shortage)?.reason ?? "\(error)"
                break
            }
        }
        return report
    }

    private func stage(_ bytes: [UInt8], atMost side: Int) async throws -> StagedImage {
        let info = try ImageInspector(limits: ImageLimits(maxSide: side)).inspect(bytes.span.bytes)
        guard info.type == .png else { throw ImageRejection.notAnImage(hint: info.type.rawValue) }
        let image = AppListDocument.Image(
            suffix: info.type.suffix, sha256: .of(bytes), bytes: bytes.count, type: info.type.mediaType,
            width: info.width, height: info.height)
        let name = if let held = staging.hold(bytes) { held } else { try await staging.keep(bytes) }
        return StagedImage(name: name, image: image)
    }
}
