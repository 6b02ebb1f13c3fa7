// SPDX-License-Identifier: Apache-2.0
package import AppLists
package import CacheFormat

/// The decisions of one download, without a network: on the next request, and on each response.
package struct Download: Sendable {
    package struct Rules: Sendable {
        var policy: NetworkRules
        var maxBytes: ByteCount
        var maxRedirects: Int
        var allowDowngrade: Bool
        var credentials: Credentials
        /// The setting by which everyone can read the cache; `nil` if it is private.
        var exposure: String?

        var keys = CacheKeys()

        /// The rules for a request.
        ///
        /// A copy may not redirect: only its own address is allowed.
        package func of(_ request: FetchRequest) -> Rules {
            var rules = self
            if request.copy != nil { rules.maxRedirects = 0 }
            return rules
        }

        package init(
            policy: NetworkRules, maxBytes: ByteCount, maxRedirects: Int, allowDowngrade: Bool,
            credentials: Credentials = Credentials(), exposure: String? = nil, keys: CacheKeys = CacheKeys()
        ) {
            (self.policy, self.maxBytes) = (policy, maxBytes)
            (self.maxRedirects, self.allowDowngrade) = (maxRedirects, allowDowngrade)
            (self.credentials, self.exposure, self.keys) = (credentials, exposure, keys)
        }
    }

    package enum Step: Sendable {
        /// Send the next request, to ``target``.
        case ask
        case take(Body)
        /// Remove the partial file on disk, then send the next request.
        case discardPartial
        case end(FetchOutcome)
    }

    package struct Body: Sendable {
        package var response: StoredResponse
        /// The announced length of the body, in bytes; `nil` if there is none.
        package var announced: Int?
        /// Whether a body that was cut off cannot look complete: its end is marked, or its length is known.
        package var isDelimited: Bool
        /// The record to keep of the image if the body is cut off.
        package var partial: PartialDownload?
        /// The size of the whole image, in bytes, if this body is the rest of one, or a piece of the rest.
        package var length: Int?
        /// The index in the image at which such a body ends.
        package var end: Int?

        /// Whether the rest is still incomplete after this body.
        package var isPiece: Bool { end != length }

        /// Checks the size of an image that came as one body, which a transport that confuses bodies would get wrong.
        package func checkLength(_ bytes: Int) throws(FetchFailure) {
            guard length == nil, let announced, announced != bytes else { return }
            throw .protocolViolation("\(bytes) bytes in place of the \(announced) announced", .passing)
        }
    }

    package let request: FetchRequest
    private let start: FetchTarget
    private let rules: Rules
    private var chain: RedirectChain
    /// The credential of the next request.
    package private(set) var credential: Credential?
    /// The condition of the next request, sent only to the URL it is for.
    private var condition: Condition?
    private var partial: PartialDownload?
    /// Whether the rest of an image was requested, and the whole was not since.
    package private(set) var hasAskedForRest = false
    private var hops: [FetchTrail.Hop] = []
    private var sent = Timestamp.distantPast
    private var redirects = RedirectLifetime()
    /// Whether every response so far came over HTTP/2.
    private var isShared = true
    /// Whether every response came over HTTP/2; `nil` until one that is no redirect.
    package private(set) var isMultiplexed: Bool?

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
        credential = try self.rules.credential(for: start, of: request)
    }

    package var target: FetchTarget { chain.target }

    /// The origin that redirects led to, if it is another one.
    package var otherOrigin: String? { target.origin == start.origin ? nil : target.origin }

    /// The redirects, proxies and exceptions so far; `nil` if there are none.
    package var trail: FetchTrail? { FetchTrail(hops) }

    /// Records the next request and its proxy; replaces the last one if that was not answered.
    package mutating func begin(through proxy: Proxy?) {
        if let last = hops.last, last.status == nil { hops.removeLast() }
        hops.append(FetchTrail.Hop(target, through: proxy))
    }

    /// Makes the header fields of the next request, which is sent now.
    ///
    /// `setting` is the setting without which the address would be refused.
    package mutating func fields(allowedBy setting: String?, now: Timestamp) -> [(name: String, value: String)] {
        updateHop { [credential] in
            $0.allowedBy = setting
            $0.credential = credential.map { "\($0)" }
        }
        sent = now
        var fields = [(name: "Accept", value: "image/*,*/*;q=0.1"), (name: "Accept-Encoding", value: "identity")]
        if let condition, rules.keys.areSame(condition.url, target) {
            if let tag = condition.validators.etag { fields.append(("If-None-Match", tag)) }
            if let date = condition.validators.lastModified { fields.append(("If-Modified-Since", date)) }
        }
        if let partial, partial.canGoOn(at: target) {
            fields += partial.requestFields
            hasAskedForRest = true
        }
        if request.copy?.bypassesCaches ?? request.bypassesCaches { fields.append(("Cache-Control", "no-cache")) }
        if let field = credential?.field { fields.append(field) }
        return fields
    }

    /// Decides what follows the head of a response.
    ///
    /// A refused request for the rest says nothing about the whole image, unless the failure passes: then the part stays.
    package mutating func answered(_ head: ResponseHead, now: Timestamp) -> Step {
        updateHop { $0.status = head.status }
        isShared = isShared && head.isMultiplexed
        do {
            if RedirectChain.statuses.contains(head.status) { return try follow(head, now: now) }
            isMultiplexed = isShared
            var response = response(head, now: now)
            if let limit = redirects.limit(on: response) { response = self.response(head, now: now, behind: limit) }
            return try nextStep(after: head, response)
        } catch {
            if hasAskedForRest, !error.leavesPart, ![.fetch(.tooLarge), .fetch(.overLimit)].contains(error.code),
                let step = try? askForWhole()
            {
                return step
            }
            var failure = error
            if failure.code == .fetch(.contentEncoding) { failure.origin = otherOrigin }
            return .end(.failed(failure))
        }
    }

    private func response(
        _ head: ResponseHead, now: Timestamp, behind redirects: RedirectLifetime.Limit? = nil
    ) -> StoredResponse {
        StoredResponse(
            status: head.status, url: target.url, fields: head.fields, requestTime: sent, responseTime: now,
            redirectLifetime: redirects?.time, redirectCause: redirects?.cause)
    }

    private mutating func follow(_ head: ResponseHead, now: Timestamp) throws(FetchFailure) -> Step {
        let locations = Set(head.fields["location"])
        guard locations.count <= 1 else {
            throw FetchFailure(.badRedirect, "the server redirects to several URLs at once")
        }
        try chain.follow(locations.first)
        redirects.record(response(head, now: now))
        do throws(FetchFailure) {
            credential = try rules.credential(for: target, of: request)
        } catch {
            throw error.inRedirect
        }
        return .ask
    }

    private mutating func nextStep(
        after head: ResponseHead, _ response: StoredResponse
    ) throws(FetchFailure) -> Step {
        let asked = partial.flatMap { $0.canGoOn(at: target) ? $0 : nil }
        switch (head.status, asked) {
        case (200, .some) where head.fields.first("content-range") != nil: return try askForWhole()
        // 203: a proxy changed the response on its way; the image is checked like any other.
        case (200, _), (203, _): return try whole(head, response)
        case (206, let partial?): return try rest(head, response, of: partial)
        case (304, _) where condition.map({ rules.keys.areSame($0.url, target) }) == true:
            return .end(.notModified(response))
        case (304, _) where condition != nil:
            // The 304 is about another URL's image: ask again without the condition.
            condition = nil
            try restart()
            return .ask
        // A cache took the validator of the range for that of an image which the agent has.
        case (304, .some): return try askForWhole()
        default:
            var failure = FetchFailure.status(of: head, receivedAt: response.responseTime)
            // nginx answers 400 to a client certificate that it refuses; modules of its own see 495 or 496.
            let refusesCertificate = [400, 495, 496].contains(head.status)
            if let credential,
                failure.persistence == .forbidden || refusesCertificate && credential.certificate != nil
            {
                failure = .refusal(of: credential, head.status)
            }
            failure.origin = otherOrigin
            throw failure
        }
    }

    private func whole(_ head: ResponseHead, _ response: StoredResponse) throws(FetchFailure) -> Step {
        let announced = try length(in: head)
        // A part is kept only if the next attempt can resume it: not with a condition, and not if the image is small.
        let isSmall = partial == nil && announced ?? .max < PartialDownload.smallest.bytes
        let mayGoOn = request.condition == nil && request.copy == nil && !isSmall
        let kept =
            mayGoOn ? PartialDownload(of: request.url, from: target, response: response, fields: head.fields) : nil
        return .take(Body(response: response, announced: announced, isDelimited: head.isDelimited, partial: kept))
    }

    private mutating func rest(
        _ head: ResponseHead, _ response: StoredResponse, of partial: PartialDownload
    ) throws(FetchFailure) -> Step {
        guard let whole = partial.extended(by: response, fields: head.fields) else { return try askForWhole() }
        try check(whole.length, of: head)
        let announced = try length(in: head)
        return .take(
            Body(
                response: whole.response, announced: announced, isDelimited: true, partial: partial,
                length: whole.length, end: whole.end))
    }

    /// Checks the announced body length and returns it; `nil` if the head has none.
    private func length(in head: ResponseHead) throws(FetchFailure) -> Int? {
        guard let length = try head.bodyLength() else { return nil }
        if let copy = request.copy, copy.bytes != length { throw .copyMismatch }
        try check(length, of: head)
        return length
    }

    /// The beginnings of the types with which servers send images.
    private static let imageTypes = ["image/", "application/octet-stream", "binary/octet-stream"]

    /// Checks the length of an image, in bytes, before its body comes.
    ///
    /// A page that a server sends in place of an image may be larger than the room: it is refused later, for being a page.
    private func check(_ length: Int, of head: ResponseHead) throws(FetchFailure) {
        guard length <= rules.maxBytes.bytes else { throw .tooLarge(limit: rules.maxBytes) }
        guard let room = request.room, length > room else { return }
        if let type = head.fields["content-type"].first?.asciiLowercased,
            !Self.imageTypes.contains(where: type.starts(withBytes:))
        {
            return
        }
        throw .overLimit("there is no room for \(ByteCount(length).rounded)", imageBytes: length)
    }

    /// Continues where the last response had all of the rest that the server sends at once.
    ///
    /// The next request goes to the URL of this response, and replaces its hop.
    package mutating func goOn(from partial: PartialDownload) -> Step {
        self.partial = partial
        if !hops.isEmpty { hops.removeLast() }
        return .ask
    }

    /// Restarts without the partial file: the response is not its rest, or both together are not an image.
    package mutating func askForWhole() throws(FetchFailure) -> Step {
        partial = nil
        hasAskedForRest = false
        try restart()
        return .discardPartial
    }

    private mutating func restart() throws(FetchFailure) {
        chain = try rules.chain(from: start)
        credential = try rules.credential(for: start, of: request)
        redirects = RedirectLifetime()
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

    /// The credential for a URL; copies are not the origin's, and never get one.
    fileprivate func credential(for target: FetchTarget, of request: FetchRequest) throws(FetchFailure) -> Credential? {
        guard !credentials.isEmpty, request.copy == nil else { return nil }
        return try credentials.choose(for: target, lists: request.lists, under: policy, exposure: exposure)
    }
}
