// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import Fleet
import HTTPRules
import Transfers

// Documents of upstreams, which share the transport, addresses and proxies of the downloads.
extension Downloads {
    /// The largest accepted manifest and document, in bytes; a list with 50,000 entries has about 20 MiB.
    static let maxBytes = (manifest: 8 << 20, document: 32 << 20)

    struct Document: Sendable {
        var head: ResponseHead
        /// Empty for statuses other than 200.
        var body: [UInt8]
        /// When the request was sent, and when the response was complete.
        var sent, received: Timestamp
    }

    /// Requests a document of an upstream; `path` is relative to its folder.
    ///
    /// `maxBytes` is the most bytes of its body, by default ``maxBytes``. With `takesTurns` it waits like images, for a
    /// connection and under ``Settings/Fetch/maxRate``: there may be many such documents.
    ///
    /// Failures are returned, not thrown: errors must not leave the thread of the downloads.
    func document(
        _ path: String, of upstream: UpstreamURL, fields: [(name: String, value: String)], maxBytes: Int? = nil,
        takesTurns: Bool = false
    ) async -> Result<Document, UpstreamFailure> {
        let isManifest = path == CacheLayout.manifest
        let result = await request(
            upstream.file(path), fields,
            maxBytes: maxBytes ?? (isManifest ? Self.maxBytes.manifest : Self.maxBytes.document),
            takesTurns: takesTurns)
        let file: MetricLabel.UpstreamFile = isManifest ? .manifest : .document
        metrics.recordUpstream(
            place(of: upstream.folder), file, MetricLabel.UpstreamResult(result),
            bytes: (try? result.get())?.body.count ?? 0)
        return result
    }

    private func request(
        _ target: FetchTarget, _ fields: [(name: String, value: String)], maxBytes: Int, takesTurns: Bool
    ) async -> Result<Document, UpstreamFailure> {
        // After the shutdown, nothing cancels new requests.
        if isShutDown { return .failure(UpstreamFailure(agent: "the agent is stopping")) }
        noticeSleep()
        let document = DocumentTransfer(
            limits: settings.upstream.limits, maxBytes: maxBytes, takesTurns: takesTurns, clock: clock, turn: nextTurn)
        let id = ObjectIdentifier(document)
        documents[id] = document
        defer { documents[id] = nil }
        check(by: document.deadline.time(at: .now, of: nil))
        // Not awaited: a name lookup may outlast the request's deadline.
        start { await self.begin(document, target, fields) }
        do {
            return .success(try await document.wait(isolation: self))
        } catch let refusal as AddressPolicy.Refusal {
            return .failure(UpstreamFailure(FetchFailure.address(refusal, of: target.host)))
        } catch {
            guard case .failed(let failure) = FetchOutcome(error) else {
                return .failure(UpstreamFailure(agent: "this machine lacks the means to ask it (\(error))"))
            }
            return .failure(UpstreamFailure(failure))
        }
    }

    private func begin(
        _ document: DocumentTransfer, _ target: FetchTarget, _ fields: [(name: String, value: String)]
    ) async {
        do {
            try settings.network.validate(target)
            let proxy = proxies.proxy(for: target)
            let route = try await resolver.route(to: target, through: proxy, isConfigured: true)
            guard !document.hasEnded else { return }
            document.transfer = send(
                fields, to: target, through: proxy, by: route, document.limits, document,
                isUrgent: !document.takesTurns)
        } catch {
            document.finish(.failure(error))
        }
    }

    func giveUp(_ document: DocumentTransfer, because error: any Error) {
        document.transfer?.cancel()
        document.transfer = nil
        // A name lookup may still run; nothing waits for it.
        documents[ObjectIdentifier(document)] = nil
        document.finish(.failure(error))
    }
}

extension MetricLabel.UpstreamResult {
    fileprivate init(_ result: Result<Downloads.Document, UpstreamFailure>) {
        switch result {
        case .success(let document) where document.head.isWhole: self = .ok
        case .success(let document) where document.head.status == 304: self = .notModified
        case .success(let document): self.init(.status(of: document.head, receivedAt: document.received))
        case .failure(let failure):
            if case .request(let cause) = failure.cause { self.init(cause) } else { self = .cancelled }
        }
    }
}
