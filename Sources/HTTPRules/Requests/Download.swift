// SPDX-License-Identifier: Apache-2.0
package import AppLists
package import CacheFormat

/// One download, as far as it is decided without a network: which request is next, and what its answer means.
package struct Download: Sendable {
    /// What the settings say of downloads.
    package struct Rules: Sendable {
        var policy: NetworkRules
        var maxBytes: ByteCount
        var maxRedirects: Int
        var allowDowngrade: Bool

        /// The rules for a request.
        ///
        /// A copy may not redirect: only its own address is allowed.
        package func of(_ request: FetchRequest) -> Rules {
            var rules = self
            if request.copy != nil { rules.maxRedirects = 0 }
            return rules
        }

        package init(policy: NetworkRules, maxBytes: ByteCount, maxRedirects: Int, allowDowngrade: Bool) {
            (self.policy, self.maxBytes) = (policy, maxBytes)
            (self.maxRedirects, self.allowDowngrade) = (maxRedirects, allowDowngrade)
        }
    }

    /// What follows from the head of an answer.
    package enum Step: Sendable {
        /// The next request is due, to ``target``.
        case ask
        /// The body is taken.
        case take(Body)
        /// The beginning that is on disk is of no use: it is to be removed, and the next request is due.
        case discardPartial
        case end(FetchOutcome)
    }

    /// A body that is taken.
    package struct Body: Sendable {
        /// What is remembered of the response.
        package var response: StoredResponse
        /// How many bytes are to come; `nil` if the server does not say.
        package var announced: Int?
        /// What to keep of the image if the body is cut.
        package var partial: PartialDownload?
        /// How many bytes the whole image has, if this is the rest of one.
        package var length: Int?
    }

    package let request: FetchRequest
    private let start: FetchTarget
    private let rules: Rules
    private var chain: RedirectChain
    /// What the next request is conditional on, where that applies.
    private var condition: Condition?
    /// What is on disk of the image.
    private var partial: PartialDownload?
    private var hops: [FetchTrail.Hop] = []
    private var sent = Timestamp.distantPast
    /// Whether every answer so far came over HTTP/2.
    private var isShared = true
    /// The same, once there is an answer that is no redirect.
    package private(set) var isMultiplexed: Bool?

    /// - Parameters:
    ///   - request: What is asked for.
    ///   - start: Its URL.
    ///   - partial: What is on disk of the image, and may be gone on with.
    ///   - rules: What the settings say.
    /// - Throws: A ``FetchFailure`` with the code `host-refused`.
    package init(
        _ request: FetchRequest, at start: FetchTarget, from partial: PartialDownload?, rules: Rules
    ) throws(FetchFailure) {
        self.request = request
        self.start = start
        self.rules = rules.of(request)
        self.partial = partial
        condition = request.condition
        chain = try self.rules.chain(from: start)
    }

    /// Where the next request goes.
    package var target: FetchTarget { chain.target }

    /// The way up to now; `nil` if there is nothing to tell of it.
    package var trail: FetchTrail? { FetchTrail(hops) }

    /// Takes note that a request is next, and by which way; in place of the last one, if that was not answered.
    package mutating func begin(through proxy: Proxy?) {
        if let last = hops.last, last.status == nil { hops.removeLast() }
        hops.append(FetchTrail.Hop(target, through: proxy))
    }

    /// Makes the fields of the next request, which is sent now, to an address that would be refused without the setting.
    package mutating func fields(allowedBy setting: String?, now: Timestamp) -> [(name: String, value: String)] {
        updateHop { $0.allowedBy = setting }
        sent = now
        var fields = [(name: "Accept", value: "image/*,*/*;q=0.1"), (name: "Accept-Encoding", value: "identity")]
        if let condition, condition.applies(to: target) {
            if let tag = condition.validators.etag { fields.append(("If-None-Match", tag)) }
            if let date = condition.validators.lastModified { fields.append(("If-Modified-Since", date)) }
        }
        if let partial, partial.canGoOn(at: target) { fields += partial.requestFields }
        if request.copy?.bypassesCaches == true { fields.append(("Cache-Control", "no-cache")) }
        return fields
    }

    /// Decides what follows from the answer to the last request.
    package mutating func answered(_ head: ResponseHead, now: Timestamp) -> Step {
        updateHop { $0.status = head.status }
        isShared = isShared && head.isMultiplexed
        do {
            if RedirectChain.statuses.contains(head.status) { return try follow(head) }
            isMultiplexed = isShared
            let response = StoredResponse(
                status: head.status, url: target.url, fields: head.fields, requestTime: sent, responseTime: now)
            return try judge(head, response)
        } catch {
            return .end(.failed(error))
        }
    }

    private mutating func follow(_ head: ResponseHead) throws(FetchFailure) -> Step {
        let locations = Set(head.fields["location"])
        guard locations.count <= 1 else {
            throw FetchFailure(.badRedirect, "the server redirects to several URLs at once")
        }
        try chain.follow(locations.first)
        return .ask
    }

    private mutating func judge(_ head: ResponseHead, _ response: StoredResponse) throws(FetchFailure) -> Step {
        let asked = partial.flatMap { $0.canGoOn(at: target) ? $0 : nil }
        switch (head.status, asked) {
        case (200, _): return try whole(head, response)
        case (206, let partial?): return try rest(head, response, of: partial)
        case (416, .some): return try askForWhole()
        case (304, _) where condition?.applies(to: target) == true: return .end(.notModified(response))
        case (304, _) where condition != nil:
            // It is about something that another URL had.
            condition = nil
            chain = try rules.chain(from: start)
            return .ask
        default:
            var failure = FetchFailure.status(of: head, receivedAt: response.responseTime)
            if target.origin != start.origin { failure.origin = target.origin }
            throw failure
        }
    }

    private func whole(_ head: ResponseHead, _ response: StoredResponse) throws(FetchFailure) -> Step {
        let announced = try length(in: head)
        // Where there is an image already, a part of its successor is not worth its room.
        let isNew = request.condition == nil && request.copy == nil
        let kept =
            isNew ? PartialDownload(of: request.url, from: target, response: response, fields: head.fields) : nil
        return .take(Body(response: response, announced: announced, partial: kept))
    }

    private mutating func rest(
        _ head: ResponseHead, _ response: StoredResponse, of partial: PartialDownload
    ) throws(FetchFailure) -> Step {
        let announced = try length(in: head)
        guard let whole = partial.completed(by: response, fields: head.fields) else { return try askForWhole() }
        guard whole.length <= rules.maxBytes.bytes else { throw .tooLarge(limit: rules.maxBytes) }
        return .take(Body(response: whole.response, announced: announced, partial: partial, length: whole.length))
    }

    /// Refuses a body by what its head says of it.
    ///
    /// - Returns: How long it is, if the head says so.
    private func length(in head: ResponseHead) throws(FetchFailure) -> Int? {
        guard let length = try head.bodyLength() else { return nil }
        if let copy = request.copy, copy.bytes != length { throw .copyMismatch }
        guard length <= rules.maxBytes.bytes else { throw .tooLarge(limit: rules.maxBytes) }
        return length
    }

    /// Begins again without the part that is on disk: what came is not its rest, or the two together are no image.
    package mutating func askForWhole() throws(FetchFailure) -> Step {
        partial = nil
        chain = try rules.chain(from: start)
        return .discardPartial
    }

    private mutating func updateHop(_ change: (inout FetchTrail.Hop) -> Void) {
        guard let last = hops.indices.last else { return }
        change(&hops[last])
    }
}

extension Download.Rules {
    fileprivate func chain(from start: FetchTarget) throws(FetchFailure) -> RedirectChain {
        try RedirectChain(from: start, limit: maxRedirects, allowDowngrade: allowDowngrade, policy: policy)
    }
}
