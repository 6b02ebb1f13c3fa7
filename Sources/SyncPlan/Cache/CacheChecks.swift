// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// Decides when to inspect the cache folder.
///
/// Any process with write access, such as a cache cleaner, can empty the folder at any time. So it is inspected after
/// each scan of the lists and before each publication: no manifest may name missing files.
struct CacheChecks: Sendable {
    private enum Look: Equatable {
        /// Nothing was published since the last inspection.
        case current
        /// An inspection is needed before the next publication.
        case stale
        case due(isComplete: Bool)
        case underWay(isComplete: Bool)
    }

    struct Order: Equatable {
        var isComplete: Bool
        var hasSample: Bool
        /// Whether unreferenced files are leftovers of a crash, to be removed.
        var removesOthers: Bool
        /// The images to read and verify, not only to stat.
        var doubtful: Set<Digest>
    }

    /// The state of inspections; the first one is complete.
    private var look = Look.due(isComplete: true)
    /// Whether the next inspection must be complete, whatever triggers it.
    private var isCompleteDue = false
    private(set) var isSearched = false
    /// Why names cannot be corrected, as far as known; until they are, each inspection is complete.
    private(set) var refusal: String?
    private var doubtful: Set<Digest> = []
    /// The time and summary of the last repair.
    private(set) var lastRepair: String?

    init(doubtful: Set<Digest> = []) { self.doubtful = doubtful }

    var isUnderWay: Bool {
        if case .underWay = look { true } else { false }
    }

    /// Whether a complete inspection is needed to find the damage; true until the first one has ended.
    var isInDoubt: Bool {
        !isSearched || look == .due(isComplete: true) || look == .underWay(isComplete: true)
    }

    /// Whether no inspection is due or running that may find missing files.
    var isKnown: Bool {
        switch look {
        case .current, .stale: !isCompleteDue
        case .due, .underWay: false
        }
    }

    /// Whether an inspection must run before anything else.
    func isNeeded(beforePublishing: Bool) -> Bool {
        switch look {
        case .due: true
        case .stale: beforePublishing
        case .current, .underWay: false
        }
    }

    /// Requests an inspection as soon as no other job is running in the folder.
    mutating func suspect(isComplete: Bool) {
        switch look {
        case .current, .stale: look = .due(isComplete: isComplete)
        case .due(let wasComplete): look = .due(isComplete: isComplete || wasComplete)
        case .underWay(let isUnderWay): isCompleteDue = isCompleteDue || isComplete && !isUnderWay
        }
    }

    /// Handles another folder at the cache's path: as after a start, files may be missing or left over.
    mutating func recordOtherFolder() {
        isSearched = false
        suspect(isComplete: true)
    }

    /// Handles a publication that left names to the inspections.
    mutating func recordRefusal(_ reason: String) {
        refusal = reason
        suspect(isComplete: true)
    }

    mutating func recordPublication() {
        look = .stale
    }

    mutating func begin() -> Order {
        let isComplete = look == .due(isComplete: true) || isCompleteDue || refusal != nil
        let order = Order(
            isComplete: isComplete,
            // A publication checks the images that it needs itself, so an inspection before it takes no sample.
            hasSample: look == .due(isComplete: false), removesOthers: isComplete && !isSearched, doubtful: doubtful)
        isCompleteDue = false
        look = .underWay(isComplete: isComplete)
        return order
    }

    /// Ends an inspection; returns whether its result is final, or another inspection must run first.
    mutating func end(_ found: CacheInspection, at now: Timestamp) -> Bool {
        guard case .underWay(let isComplete) = look else { preconditionFailure("nobody looked at the cache") }
        if found.trouble != nil {
            // The next publication is delayed, and another inspection runs before it.
            look = .stale
            isCompleteDue = isCompleteDue || isComplete
            return false
        }
        if found.isSuspicious || isCompleteDue, !isComplete {
            look = .due(isComplete: true)
            return false
        }
        look = .current
        if isComplete { (isSearched, doubtful, refusal) = (true, [], found.refusal) }
        if let summary = found.summary { lastRepair = "\(now): \(summary)" }
        return true
    }
}
