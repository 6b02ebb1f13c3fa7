// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Signatures
import SyncPlan
import WebAddresses

/// Looks at upstreams: requests a manifest, its signature, and the documents that are not known.
struct UpstreamPoller: Sendable {
    /// How many documents are requested at once.
    private static let concurrency = 4
    /// The most entries of all documents that a poll brings, and how long it may take: an upstream must not fill the
    /// memory, nor keep other polls away.
    private static let limits = (entries: 500_000, time: Duration.seconds(600))

    let downloads: Downloads

    func poll(_ poll: UpstreamPoll) async -> UpstreamAnswer {
        UpstreamAnswer(url: poll.url, epoch: poll.epoch, await outcome(of: poll))
    }

    private func outcome(of poll: UpstreamPoll) async -> UpstreamAnswer.Outcome {
        switch await downloads.document(CacheLayout.manifest, of: poll.url, fields: poll.fields) {
        case .failure(let failure): return .failed(failure)
        case .success(let response):
            switch response.head.status {
            case 200: return await outcome(of: poll, response)
            case 304 where poll.validators != nil: return .unchanged()
            default: return .failed(UpstreamFailure(FetchFailure(response.head, at: response.received)))
            }
        }
    }

    private func outcome(of poll: UpstreamPoll, _ response: Downloads.Document) async -> UpstreamAnswer.Outcome {
        let digest = Digest.of(response.body)
        let validators = UpstreamPoll.validators(
            of: StoredResponse(
                fields: response.head.fields, requestTime: response.sent, responseTime: response.received))
        do throws(UpstreamFailure) {
            guard let (manifest, memo) = try poll.judge(response.body, digest: digest, now: AgentClock.wallTime) else {
                return .unchanged(validators)
            }
            try await checkSignature(of: response.body, digest, poll)
            let documents = try await documents(of: manifest, poll)
            return .accepted(UpstreamContents(memo, validators, manifest, new: documents, old: poll.index))
        } catch {
            return .failed(error)
        }
    }

    private func checkSignature(
        of manifest: [UInt8], _ digest: Digest, _ poll: UpstreamPoll
    ) async throws(UpstreamFailure) {
        guard !poll.keys.isEmpty else { return }
        let path = CacheLayout.signature(digest)
        let text = try await file(path, poll, as: .signature, "its manifest is not signed: \(path) is missing")
        do {
            try verify(try Signature(text: text), of: manifest, by: poll.keys)
        } catch {
            throw UpstreamFailure(.signature, "the signature of its manifest is not accepted: \(error)")
        }
    }

    /// The documents of a manifest that are not known.
    private func documents(
        of manifest: Manifest, _ poll: UpstreamPoll
    ) async throws(UpstreamFailure) -> [Digest: AppListDocument] {
        let new = manifest.lists.values.filter { poll.index?.documents[$0.sha256] == nil }
        let rest: [Manifest.List?] = Dictionary(new.map { ($0.sha256, $0) }) { a, _ in a }.values.map(\.self)
        let found = await withTaskGroup(
            of: (Digest, Result<AppListDocument, UpstreamFailure>).self,
            returning: Result<[Digest: AppListDocument], UpstreamFailure>.self
        ) { group in
            var documents: [Digest: AppListDocument] = [:]
            var entries = 0
            let end = ContinuousClock.now + Self.limits.time
            for (number, list) in (rest + Array(repeating: nil, count: Self.concurrency)).enumerated() {
                if number >= Self.concurrency, let (digest, result) = await group.next() {
                    switch result {
                    case .success(let document):
                        documents[digest] = document
                        entries += document.apps.count
                    case .failure(let failure): return .failure(failure)
                    }
                }
                guard entries <= Self.limits.entries else {
                    return .failure(UpstreamFailure(.damaged, "its documents have more than 500,000 entries"))
                }
                guard .now < end else {
                    return .failure(UpstreamFailure(FetchFailure.timeout("10 minutes for all documents")))
                }
                if let list { group.addTask { (list.sha256, await document(of: list, poll)) } }
            }
            return .success(documents)
        }
        return try found.get()
    }

    private func document(
        of list: Manifest.List, _ poll: UpstreamPoll
    ) async -> Result<AppListDocument, UpstreamFailure> {
        do throws(UpstreamFailure) {
            let bytes = try await file(
                list.document, poll, as: .incomplete, "its manifest names \(list.document), which is missing")
            return .success(try poll.document(bytes, of: list))
        } catch {
            return .failure(error)
        }
    }

    /// A file that the manifest calls for.
    private func file(
        _ path: String, _ poll: UpstreamPoll, as refusal: UpstreamFailure.Refusal, _ message: String
    ) async throws(UpstreamFailure) -> [UInt8] {
        let response = try await downloads.document(path, of: poll.url, fields: poll.documentFields).get()
        guard response.head.status != 200 else { return response.body }
        let failure = FetchFailure(response.head, at: response.received)
        throw UpstreamVerdict(failure) == .miss ? UpstreamFailure(refusal, message) : UpstreamFailure(failure)
    }
}
