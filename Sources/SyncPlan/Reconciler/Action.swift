// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
package import Fleet
package import HTTPRules

extension Reconciler {
    /// An action that the plan's owner performs.
    package enum Action: Sendable {
        /// Download an icon; ends with `.fetched`.
        case fetch(FetchRequest)
        /// Cancel a download, which then ends with `.fetched` as `.cancelled`.
        case cancel(url: IconURL)
        /// Write a staged image into `icons/` ahead of its publication: no generation names it yet.
        case writeAhead(StagedImage, naming: IconURL?)
        /// Scan the lists folder again; ends with `.scanned`.
        case look
        case start(Job)
        case background(BackgroundTask)
    }

    /// A long action; an event reports its end to the plan.
    package enum Job: Sendable {
        /// Publish a generation; ends with `.published`.
        case publish(Publication)
        /// Remove the files of generations, except those that readers lease; ends with `.released`.
        case release([GenerationRelease])
        /// Remove files that no generation names; ends with `.removed`.
        case remove(RetirementPlan)
        /// Measure the free space of the cache's file system, and write a file of `trial` bytes as a test; ends with
        /// `.space`.
        case measureSpace(trial: Int)
        /// Check that the cache folder has everything expected; ends with `.inspected`.
        case inspect(CacheExpectation)
        /// Poll a source of icons; ends with `.polled`.
        case poll(UpstreamPoll)
        /// Render images; ends with `.rendered`.
        case render(RenderOrder)
        /// Set the names of renditions; ends with `.renditionsNamed`.
        case nameRenditions(RenditionNaming)
    }

    /// An action without a result; such actions run one after the other.
    package enum BackgroundTask: Sendable {
        /// Remove staged images.
        case discard([String])
        /// Remove the partial images of these URLs from `staging/`; their downloads will not be resumed.
        case discardPartials(Set<IconURL>)
        /// Store changes for the next start.
        case remember(MemoChanges)
    }
}
