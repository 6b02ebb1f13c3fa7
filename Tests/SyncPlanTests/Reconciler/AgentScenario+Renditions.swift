// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules
import Testing

@testable import SyncPlan

extension AgentScenario {
    /// Lets all that is rendered end, with an image for each size, or as it is said for the image of a word.
    mutating func finishRendering(
        _ results: [String: RenderReport.Result] = [:], version: Int? = 1, trouble: String? = nil
    ) throws {
        let order = try #require(renderings.first, "nothing is being rendered")
        renderings.removeFirst()
        var report = RenderReport(version: version)
        report.trouble = trouble
        for item in order.items where trouble == nil {
            var staged: [Int: StagedImage] = [:]
            for pixels in item.pixels {
                staged[pixels] = stage(Sample.rendition(of: item.image, pixels, by: version ?? 0))
            }
            report.results[item.image.sha256] = .rendered(staged)
        }
        for (word, result) in results {
            let image = Sample.image(word).sha256
            if case .rendered(let staged) = report.results.updateValue(result, forKey: image) {
                disk.staging.subtract(staged.values.map(\.name))
            }
        }
        try handle(.rendered(report))
    }

    mutating func finishNaming(trouble: String? = nil) throws {
        let naming = try #require(self.naming, "no names are being set")
        self.naming = nil
        if trouble == nil {
            if let all = naming.all { names = names.filter { all.contains($0.key) } }
            for subject in naming.removed { names[subject] = nil }
            names.merge(naming.names) { $1 }
        }
        try handle(.renditionsNamed(trouble: trouble))
    }

    /// Lets everything end that concerns renditions, and what follows from it.
    mutating func finishRenditions() throws {
        while !renderings.isEmpty || naming != nil || publication != nil {
            if !renderings.isEmpty { try finishRendering() }
            if naming != nil { try finishNaming() }
            if publication != nil { try finishPublication() }
        }
    }
}
