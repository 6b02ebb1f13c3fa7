// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import Fleet
import HTTPRules
import ImageChecks
import Transfers

// The requests of a download, one after the other.
extension Downloads {
    /// Starts a download that need not wait for anything, as most; returns `false`, and does nothing, if it must wait.
    func beginAtOnce(_ download: ActiveDownload) -> Bool {
        let request = download.request
        guard case .server(let target) = request.source, !request.mayResume, request.shared == nil,
            staging.space.hasRoom(for: nil)
        else { return false }
        do {
            download.steps = try Download(request, at: target, from: nil, rules: rules)
            return askAtOnce(download)
        } catch {
            end(download, because: error)
            return true
        }
    }

    func begin(_ download: ActiveDownload) async {
        let request = download.request
        if let shared = request.shared { return await copy(shared, for: download) }
        do {
            switch request.source {
            case .server(let target):
                try await staging.checkRoom(for: nil)
                var partial = request.mayResume ? await staging.partial(of: request.url) : nil
                if let found = partial, !found.canGoOn(at: clock.now) {
                    await staging.discardPartials(of: [request.url])
                    partial = nil
                }
                download.hasPart = partial != nil
                download.steps = try Download(request, at: target, from: partial, rules: rules)
                try await ask(download)
            case .inline(let url):
                let (bytes, info) = try url.image(upTo: settings.fetch.maxBytes, inspector)
                let now = clock.now
                let response = StoredResponse(fields: HTTPFields([]), requestTime: now, responseTime: now)
                await keep(bytes, AppListDocument.Image(of: bytes, info), response, of: download)
            }
        } catch {
            end(download, because: error)
        }
    }

    /// Copies the image that was downloaded for another icon.
    private func copy(_ shared: SharedImage, for download: ActiveDownload) async {
        do {
            guard let name = try await staging.copy(shared) else {
                throw FetchFailure(.disk, "the image of the same URL was removed meanwhile")
            }
            guard !download.hasEnded else { return await staging.discard([name]) }
            end(download, .image(StagedImage(name: name, image: shared.image), shared.response))
        } catch {
            end(download, because: error)
        }
    }

    private func ask(_ download: ActiveDownload) async throws {
        // It may have been given up during a wait.
        if let error = download.givenUp { throw error }
        let (target, proxy) = beginRequest(of: download)
        let route: Route
        do {
            route = try await resolver.route(to: target, through: proxy, isConfigured: download.request.copy != nil)
        } catch let failure as FetchFailure where failure.code == .fetch(.addressRefused) {
            throw Self.refused(failure, download)
        }
        if let error = download.givenUp { throw error }
        send(download, to: target, through: proxy, by: route)
    }

    /// A refused address, which may be that of the login page of a network: many have theirs at a private one.
    static func refused(_ failure: FetchFailure, _ download: ActiveDownload) -> FetchFailure {
        let origin = download.steps?.otherOrigin
        var refused = origin == nil ? failure : failure.inRedirect
        refused.page = FetchFailure.Page(origin: origin, address: failure.page?.address)
        return refused
    }

    /// Sends the next request of a download if its route is known; returns whether it did.
    private func askAtOnce(_ download: ActiveDownload) -> Bool {
        let (target, proxy) = beginRequest(of: download)
        guard proxy == nil, let route = resolver.knownRoute(to: target, isConfigured: download.request.copy != nil)
        else { return false }
        send(download, to: target, through: proxy, by: route)
        return true
    }

    /// Records that a request comes next, and returns where it goes.
    private func beginRequest(of download: ActiveDownload) -> (target: FetchTarget, proxy: Proxy?) {
        guard let target = download.steps?.target else {
            preconditionFailure("an image that is there is not asked for")
        }
        let proxy = proxies.proxy(for: target)
        download.steps?.begin(through: proxy)
        return (target, proxy)
    }

    private func send(_ download: ActiveDownload, to target: FetchTarget, through proxy: Proxy?, by route: Route) {
        download.restart()
        download.refusal = route.refusal
        download.http1Start = http1Start(of: target)
        let fields = download.steps?.fields(allowedBy: route.setting, now: clock.now) ?? []
        download.transfer = send(
            fields, to: target, through: proxy, by: route, download.limits, download,
            certificate: download.steps?.credential?.certificate)
    }

    /// Sends a request, and schedules the check of its first timeout.
    func send(
        _ fields: [(name: String, value: String)], to target: FetchTarget, through proxy: Proxy?, by route: Route,
        _ limits: RequestLimits, _ receiver: any TransferReceiver, certificate: ClientCertificate? = nil,
        isUrgent: Bool = false
    ) -> any Transfer {
        if let path = target.filePath { return read(path, for: receiver, limits) }
        // While one stream of a connection waits for its turn under the limit, libcurl reads it for the others.
        let mayMultiplex = target.isSecure && settings.fetch.maxRate == nil && http1Start(of: target) == nil
        let request = TransferRequest(
            url: target.url, fields: fields, proxy: proxy, route: route, mayMultiplex: mayMultiplex, limits: limits,
            certificate: certificate, isUrgent: isUrgent)
        check(by: .now + min(limits.idleTimeout, limits.connectTimeout))
        return transport.begin(request, receiver)
    }

    /// Reads a file of a `file://` upstream; no request is sent.
    private func read(_ path: String, for receiver: any TransferReceiver, _ limits: RequestLimits) -> any Transfer {
        let transfer = FileTransfer(receiver)
        check(by: .now + limits.idleTimeout)
        start { await self.deliver(path, to: transfer) }
        return transfer
    }

    private func deliver(_ path: String, to transfer: FileTransfer) async {
        let upstream = settings.upstream.urls.first { url in
            url.folder.filePath.map { path.starts(withBytes: $0) } ?? false
        }
        let manifest = upstream?.file(CacheLayout.manifest).filePath ?? path
        // A read that hangs keeps its thread, and the number of threads is limited.
        guard fileReads[upstream, default: []].count(where: \.hasEnded) < Self.hangingReads else {
            return transfer.deliver(.failed(.timeout("upstream.idleTimeout to read files, which still hang")))
        }
        fileReads[upstream, default: []].append(transfer)
        let longest = max(Self.maxBytes.document, settings.fetch.maxBytes.bytes)
        let call = BlockingCall("upstream-file") { [readFile] in readFile(path, longest, manifest) }
        let found = try? await call.wait()
        fileReads[upstream]?.removeAll { $0 === transfer }
        if let found { transfer.deliver(found) }
    }

    /// Sends the next request of a download after a response that requires one.
    func askAgain(_ download: ActiveDownload) async {
        do {
            if case .discardPartial = download.step { await staging.discardPartials(of: [download.url]) }
            try await ask(download)
        } catch {
            end(download, because: error)
        }
    }
}
