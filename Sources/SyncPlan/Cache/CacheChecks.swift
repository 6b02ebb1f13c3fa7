// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// How current the knowledge of the cache folder is.
///
/// Whoever may write to it can empty it at any time, as cache cleaners do. So it is looked at after each look at the lists,
/// and before each publication: no manifest may name what is not there.
struct CacheChecks: Sendable {
    private enum Look: Equatable {
        /// Nothing was published since the last look.
        case current
        /// A look is needed before the next publication.
        case stale
        case due(isComplete: Bool)
        case underWay(isComplete: Bool)
    }

    /// What a look is to look at.
    struct Order: Equatable {
        var isComplete: Bool
        /// Whether some documents and images are looked at.
        var hasSample: Bool
        /// Whether files that nothing names are what a crash has left.
        var removesOthers: Bool
        /// The images that are read, and not only looked at.
        var doubtful: Set<Digest>
    }

    /// The first look is a complete one.
    private var look = Look.due(isComplete: true)
    /// Whether the next look is to be a complete one, whatever asks for it.
    private var isCompleteDue = false
    /// Whether the folder was looked at completely since the start.
    private(set) var isSearched = false
    private var doubtful: Set<Digest> = []
    /// When something was missing for the last time, and what.
    private(set) var lastRepair: String?

    /// - Parameter doubtful: The images that the first look reads.
    init(doubtful: Set<Digest> = []) {
        self.doubtful = doubtful
    }

    var isUnderWay: Bool {
        if case .underWay = look { true } else { false }
    }

    /// Whether a quick look found something amiss, and it is not known yet what; so it is too before the first look.
    var isInDoubt: Bool {
        !isSearched || look == .due(isComplete: true) || look == .underWay(isComplete: true)
    }

    /// Whether no look is to come or under way that may find something missing.
    var isKnown: Bool {
        switch look {
        case .current, .stale: !isCompleteDue
        case .due, .underWay: false
        }
    }

    /// Whether the folder is to be looked at before anything else.
    func isNeeded(beforePublishing: Bool) -> Bool {
        switch look {
        case .due: true
        case .stale: beforePublishing
        case .current, .underWay: false
        }
    }

    /// Has the folder looked at as soon as nothing else is being done in it.
    mutating func suspect(isComplete: Bool) {
        switch look {
        case .current, .stale: look = .due(isComplete: isComplete)
        case .due(let wasComplete): look = .due(isComplete: isComplete || wasComplete)
        case .underWay(let isUnderWay): isCompleteDue = isCompleteDue || isComplete && !isUnderWay
        }
    }

    /// Another folder is at the path: as after a start, what its generations name may not be there, and other files may.
    mutating func noteOtherFolder() {
        isSearched = false
        suspect(isComplete: true)
    }

    /// A publication begins.
    mutating func notePublication() {
        look = .stale
    }

    /// A look begins.
    mutating func begin() -> Order {
        let isComplete = look == .due(isComplete: true) || isCompleteDue
        let order = Order(
            isComplete: isComplete,
            // Not before each publication: that looks at what it needs itself.
            hasSample: look == .due(isComplete: false), removesOthers: isComplete && !isSearched, doubtful: doubtful)
        isCompleteDue = false
        look = .underWay(isComplete: isComplete)
        return order
    }

    /// A look ended.
    ///
    /// - Returns: Whether what it found is all that there is to find; if not, another look comes before anything else.
    mutating func end(_ found: CacheInspection, at now: Timestamp) -> Bool {
        guard case .underWay(let isComplete) = look else { preconditionFailure("nobody looked at the cache") }
        if found.trouble != nil {
            // The next publication comes after a delay, and is preceded by another look.
            look = .stale
            isCompleteDue = isCompleteDue || isComplete
            return false
        }
        if found.isSuspicious || isCompleteDue, !isComplete {
            look = .due(isComplete: true)
            return false
        }
        look = .current
        if isComplete { (isSearched, doubtful) = (true, []) }
        if let summary = found.summary { lastRepair = "\(now): \(summary)" }
        return true
    }
}
