// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Fleet
import HTTPRules

/// Polls upstreams: requests a manifest, its signature, and the documents that are not yet known.
struct UpstreamPoller: Sendable {
    private static let concurrency = 4
    /// Limits that keep an upstream from filling the memory and from delaying other polls.
    struct Limits: Sendable {
        /// The most entries in all documents of a manifest.
        var entries = ListLimits.maxAdoptedEntries
        /// The most bytes of documents per manifest, including those kept from failed polls.
        var bytes = 256 << 20
        /// The most bytes of documents kept from a failed poll for the next.
        var keptBytes = 64 << 20
        /// The longest time to download all documents of a manifest.
        var time: Duration = .seconds(600)
    }

    /// Parses the documents of all upstreams one after another: parsing may take many times the document's size.
    private actor Reader {
        func read(
            _ body: [UInt8], of list: Manifest.List, _ poll: UpstreamPoll
        ) throws(UpstreamFailure) -> UpstreamDocument {
            try poll.document(body, of: list)
        }
    }

    private typealias ReadDocument = (body: [UInt8], document: UpstreamDocument)

    let downloads: Downloads
    /// The lists on disk that polls update; `nil` to take over no lists.
    var adopted: AdoptedLists?
    /// Called after a change of lists that are taken over.
    var scanLists: @Sendable () async -> Void = {}
    var limits = Limits()
    private static let reader = Reader()

    func poll(_ poll: UpstreamPoll) async -> UpstreamAnswer {
        UpstreamAnswer(url: poll.url, epoch: poll.epoch, await outcome(of: poll))
    }

    private func outcome(of poll: UpstreamPoll) async -> UpstreamAnswer.Outcome {
        do throws(UpstreamFailure) {
            let response = try await downloads.document(CacheLayout.manifest, of: poll.url, fields: poll.fields).get()
            if response.head.status == 304, poll.validators != nil { return .unchanged() }
            guard response.head.isWhole else {
                throw UpstreamFailure(FetchFailure.status(of: response.head, receivedAt: response.received))
            }
            let digest = Digest.of(response.body)
            let validators = UpstreamPoll.validators(
                of: StoredResponse(
                    fields: response.head.fields, requestTime: response.sent, responseTime: response.received))
            if poll.isKnown(digest) { return .unchanged(validators) }
            try await checkSignature(of: response.body, digest, poll)
            let (manifest, memo) = try poll.validate(response.body, digest: digest, now: AgentClock.wallTime)
            let (documents, failure) = await documents(of: manifest, poll)
            // Parsing needed several times the memory of the parsed documents.
            if !documents.isEmpty || failure != nil { HeapTrimmer.trimSoon() }
            if let failure { return .failed(failure, found: documents) }
            try await adopt(manifest, poll)
            return .accepted(UpstreamContents(memo, validators, manifest, new: documents, old: poll.index))
        } catch {
            return .failed(error, found: poll.found)
        }
    }

    /// The lists to take over whose documents are not on disk yet.
    private func lists(toAdoptFrom manifest: Manifest, _ poll: UpstreamPoll) -> [Digest: ListName] {
        guard let adopted, !poll.settings.lists.isEmpty else { return [:] }
        let new = manifest.lists.filter { name, list in
            poll.settings.adopts(name) && !adopted.has(name, list.sha256, of: poll.url, in: poll.settings)
        }
        return Dictionary(new.map { ($0.value.sha256, $0.key) }) { a, _ in a }
    }

    /// Puts the lists of an accepted manifest in force.
    private func adopt(_ manifest: Manifest, _ poll: UpstreamPoll) async throws(UpstreamFailure) {
        guard let adopted, !poll.settings.lists.isEmpty else { return }
        let lists = manifest.lists.filter { poll.settings.adopts($0.key) }.mapValues(\.sha256)
        let result: Result<Bool, FileError> = await onOwnThread("adopted-lists") {
            do throws(FileError) {
                return .success(try adopted.publish(lists, of: poll.url, in: poll.settings))
            } catch {
                return .failure(error)
            }
        }
        do throws(FileError) {
            if try result.get() { await scanLists() }
        } catch {
            throw UpstreamFailure(agent: "its lists cannot be taken over (\(error))")
        }
    }

    private func stage(
        _ body: [UInt8], of name: ListName, _ list: Manifest.List, _ poll: UpstreamPoll
    ) async throws(UpstreamFailure) {
        guard let adopted else { return }
        let result: Result<Void, UpstreamFailure> = await onOwnThread("adopted-lists") {
            guard let document = try? AppListDocument(json: body), document.list == name else {
                return .failure(UpstreamFailure(.damaged, "\(list.document) is not the document of \(name)"))
            }
            do throws(FileError) {
                return .success(try adopted.stage(document, list.sha256, of: poll.url, in: poll.settings))
            } catch {
                return .failure(UpstreamFailure(agent: "its list \(name) cannot be taken over (\(error))"))
            }
        }
        try result.get()
    }

    private func checkSignature(
        of manifest: [UInt8], _ digest: Digest, _ poll: UpstreamPoll
    ) async throws(UpstreamFailure) {
        guard !poll.settings.publicKeys.isEmpty else { return }
        let path = CacheLayout.signature(digest)
        let text = try await file(path, poll, as: .signature, "its manifest is not signed: \(path) is missing").get()
        do {
            try verify(try Signature(text: text), of: manifest, by: poll.settings.publicKeys)
        } catch {
            throw UpstreamFailure(.signature, "the signature of its manifest is not accepted: \(error)")
        }
    }

    /// Downloads the unknown documents of a manifest; if some could not be downloaded, also returns the failure.
    private func documents(
        of manifest: Manifest, _ poll: UpstreamPoll
    ) async -> (found: [Digest: UpstreamDocument], failure: UpstreamFailure?) {
        adopted?.clean(keeping: Set(manifest.lists.values.map(\.sha256)), of: poll.url, in: poll.settings)
        let adoptions = lists(toAdoptFrom: manifest, poll)
        let new = manifest.lists.values.filter {
            poll.index?.documents[$0.sha256] == nil || adoptions[$0.sha256] != nil
        }
        let lists = Dictionary(new.map { ($0.sha256, $0) }) { a, _ in a }
        var found = poll.found.filter { lists[$0.key] != nil && adoptions[$0.key] == nil }
        let known = manifest.lists.values.compactMap { list in
            lists[list.sha256] == nil ? poll.index?.documents[list.sha256]?.count : nil
        }
        var entries = known.reduce(found.values.reduce(0) { $0 + $1.contents.count }, +)
        var bytes = found.values.reduce(0) { $0 + $1.bytes }
        var failure: UpstreamFailure?
        let end = ContinuousClock.now + limits.time
        var rest = lists.values.filter { found[$0.sha256] == nil }.makeIterator()
        await withTaskGroup(of: (Manifest.List, Result<ReadDocument, UpstreamFailure>).self) { group in
            var count = 0
            while true {
                while count < Self.concurrency, failure == nil, let list = rest.next() {
                    group.addTask { (list, await document(of: list, poll)) }
                    count += 1
                }
                guard let (list, result) = await group.next() else { return }
                count -= 1
                do throws(UpstreamFailure) {
                    let (body, document) = try result.get()
                    bytes += body.count
                    if let name = adoptions[list.sha256] { try await stage(body, of: name, list, poll) }
                    found[list.sha256] = document
                    entries += document.contents.count
                    if entries > limits.entries || bytes > limits.bytes {
                        found = [:]
                        throw UpstreamFailure(
                            .damaged,
                            "its documents have more than \(grouped(limits.entries)) entries or \(limits.bytes >> 20) MiB"
                        )
                    }
                    if .now > end { throw UpstreamFailure(FetchFailure.timeout("10 minutes for all documents")) }
                } catch {
                    failure = failure ?? error
                }
            }
        }
        if failure != nil { trim(&found) }
        return (found, failure)
    }

    /// Downloads and reads a document, unless it was kept.
    private func document(of list: Manifest.List, _ poll: UpstreamPoll) async -> Result<ReadDocument, UpstreamFailure> {
        let store = poll.url.folder.isFile ? nil : adopted
        if let body = await onOwnThread("documents", { store?.document(list.sha256, of: poll.url) }),
            let document = try? await Self.reader.read(body, of: list, poll)
        {
            return .success((body, document))
        }
        do throws(UpstreamFailure) {
            let message = "its manifest names \(list.document), which is missing"
            let body = try await file(list.document, poll, as: .incomplete, message).get()
            let document = try await Self.reader.read(body, of: list, poll)
            await onOwnThread("documents") { store?.keep(body, list.sha256, of: poll.url, in: poll.settings) }
            return .success((body, document))
        } catch {
            return .failure(error)
        }
    }

    /// Drops documents of a failed poll until the others are within the limit.
    private func trim(_ found: inout [Digest: UpstreamDocument]) {
        var bytes = 0
        found = found.filter { document in
            bytes += document.value.bytes
            return bytes <= limits.keptBytes
        }
    }

    private func file(
        _ path: String, _ poll: UpstreamPoll, as refusal: UpstreamFailure.Refusal, _ message: String
    ) async -> Result<[UInt8], UpstreamFailure> {
        await downloads.document(path, of: poll.url, fields: poll.documentFields).flatMap { response in
            guard !response.head.isWhole else { return .success(response.body) }
            let failure = FetchFailure.status(of: response.head, receivedAt: response.received)
            let isMissing = UpstreamVerdict(failure) == .miss
            return .failure(isMissing ? UpstreamFailure(refusal, message) : UpstreamFailure(failure))
        }
    }
}
