// SPDX-License-Identifier: Apache-2.0
import IconCache

extension Reconciler {
    mutating func evict(now: Timestamp, to actions: inout [Action]) {
        let plan = ledger.removable(in: catalog)
        if !plan.isEmpty {
            eviction = .removing(plan)
            retire(plan, now: now)
            actions.append(.remove(plan))
            return
        }
        if let leaseRetry, leaseRetry > now { return }
        let expired = ledger.expired(grace: settings.cache.grace, now: now)
        guard !expired.isEmpty else { return }
        eviction = .releasing
        actions.append(.release(expired))
    }

    /// Notes that what a plan names is as good as gone: a list that names it again has it fetched anew.
    mutating func retire(_ plan: RetirementPlan, now: Timestamp) {
        let removed = Set(plan.images.map(\.sha256))
        for (url, icon) in catalog.icons {
            guard let image = icon.image, removed.contains(image.sha256) || plan.urls.contains(url) else { continue }
            catalog.updateIcon(url) {
                $0.image = nil
                $0.response = nil
            }
            forgetIfDone(url, now: now)
        }
    }
}
