// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import HTTPRules
import ImageChecks
import Reports
import SyncPlan

/// Renders images of the cache, and stages what comes of it.
struct Renderer: Sendable {
    let helper: RenderHelper
    let folder: CacheFolder
    let staging: Staging
    var metrics = AgentMetrics()

    /// Carries out an order; if the task is cancelled, images that are not done are left out.
    func render(_ order: RenderOrder) async -> RenderReport {
        if let shortage = Shortage.ofDescriptors() {
            var report = RenderReport()
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
        metrics.recordRendering(
            images: work.rendered.count, failed: work.failed.count, in: .now - start)
        var report = RenderReport(version: work.version)
        report.trouble = Task.isCancelled ? nil : work.trouble
        for (digest, failure) in work.failed { report.results[digest] = .failed(failure) }
        for digest in work.damaged { report.results[digest] = .damaged }
        for (digest, images) in work.rendered {
            do {
                var staged: [Int: StagedImage] = [:]
                for (pixels, bytes) in images { staged[pixels] = try await stage(bytes, atMost: pixels) }
                report.results[digest] = .rendered(staged)
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
        let image = AppListDocument.Image(
            suffix: info.type.suffix, sha256: .of(bytes), bytes: bytes.count, type: info.type.mediaType,
            width: info.width, height: info.height)
        let name = if let held = staging.hold(bytes) { held } else { try await staging.keep(bytes) }
        return StagedImage(name: name, image: image)
    }
}
