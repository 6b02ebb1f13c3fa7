// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
package import Fleet
package import HTTPRules

extension Reconciler {
    /// What is to be done.
    package enum Action: Sendable {
        /// Download an icon; ends with `.fetched`.
        case fetch(FetchRequest)
        /// No list names the URL any more: end its download, which then ends with `.fetched` as `.cancelled`.
        case cancel(url: IconURL)
        /// Write a staged image into `icons/` ahead of its publication: no generation names it yet.
        case writeAhead(StagedImage)
        /// List the lists folder again; ends with `.scanned`.
        case look
        case start(Job)
        case background(BackgroundTask)
    }

    /// What takes its time, and ends with an event that the plan waits for.
    package enum Job: Sendable {
        /// Publish a generation; ends with `.published`.
        case publish(Publication)
        /// Take the files of generations away, those excepted that readers hold a lease on; ends with `.released`.
        case release([GenerationRelease])
        /// Remove what no generation names; ends with `.removed`.
        case remove(RetirementPlan)
        /// See what is free on the cache's file system, and whether a file of so many bytes can be written; ends with
        /// `.space`.
        case measureSpace(trial: Int)
        /// See whether everything that is expected in the cache folder is there; ends with `.inspected`.
        case inspect(CacheExpectation)
        /// Poll a source of icons; ends with `.polled`.
        case poll(SourcePoll)
    }

    /// What nothing waits for; one is done after the other.
    package enum BackgroundTask: Sendable {
        /// Remove staged images.
        case discard([String])
        /// Remove what is kept in `staging/` of these URLs' images, for downloads that will not go on.
        case discardPartials(Set<IconURL>)
        /// Store what is to be known after a restart.
        case remember(MemoChanges)
    }
}
