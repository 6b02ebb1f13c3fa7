// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOHTTP1
import SyncPlan

extension Fetcher {
    func whole(_ answer: Answer, of request: FetchRequest) async throws -> FetchOutcome {
        try await check(answer.response.headers)
        var partial: PartialDownload?
        if request.condition == nil {
            partial = PartialDownload(
                of: request.url, from: answer.target, response: answer.stored, fields: answer.fields)
        }
        let body = IncomingBody(to: staging, limit: settings.fetch.maxBytes, partial: partial)
        return .image(try await stage(answer, as: body), answer.stored)
    }

    /// Goes on with an image of which the first bytes are on disk.
    ///
    /// - Throws: ``NotTheRest`` if the two together are no image: that says nothing of what the server has.
    func rest(_ answer: Answer, of partial: PartialDownload) async throws -> FetchOutcome {
        try await check(answer.response.headers)
        guard let whole = partial.completed(by: answer.stored, fields: answer.fields) else { throw NotTheRest() }
        guard whole.length <= settings.fetch.maxBytes.bytes else {
            throw FetchFailure.tooLarge(limit: settings.fetch.maxBytes)
        }
        guard let file = await staging.resume(partial) else { throw NotTheRest() }
        let body = IncomingBody(to: staging, limit: settings.fetch.maxBytes, partial: partial, file: file)
        do {
            return .image(try await stage(answer, as: body, length: whole.length), whole.response)
        } catch is ImageRejection {
            throw NotTheRest()
        }
    }

    /// Refuses a body by what its head says of it, or because there is no room for it.
    private func check(_ headers: HTTPHeaders) async throws {
        let codings = headers[canonicalForm: "Content-Encoding"]
        if let coding = codings.first(where: { $0.lowercased() != "identity" }) {
            throw FetchFailure.encoded(String(coding))
        }
        guard let length = headers.first(name: "Content-Length").flatMap({ Int($0) }) else { return }
        guard length <= settings.fetch.maxBytes.bytes else {
            throw FetchFailure.tooLarge(limit: settings.fetch.maxBytes)
        }
        try await staging.checkRoom(for: length)
    }

    /// Reads a body to its end; the image must have that many bytes, those of earlier attempts included.
    private func stage(_ answer: Answer, as body: IncomingBody, length: Int? = nil) async throws -> StagedImage {
        var body = body
        do {
            for try await buffer in answer.response.body { try await body.append(buffer) }
            try Task.checkCancellation()
            guard length == nil || length == body.count else { throw NotTheRest() }
            return try await body.finish(inspector)
        } catch {
            await body.end(after: error, now: clock.now)
            let announced = answer.response.headers.first(name: "Content-Length").flatMap { Int($0) } ?? 0
            throw Shortage(error, of: max(announced, body.count)) ?? error
        }
    }
}

/// What was asked for as the rest of an image is none: the whole image is to be asked for.
struct NotTheRest: Error {}

extension Shortage {
    /// What an error says of room for an image of so many bytes; `nil` if it is about something else.
    fileprivate init?(_ error: any Error, of bytes: Int) {
        if let error = error as? FileError, error.isOutOfSpace {
            self.init(bytes: bytes, isGeneral: true, reason: "\(error)")
        } else if let shortage = (error as? FileError).flatMap({ Shortage($0.errno) }) {
            self = shortage
        } else if var shortage = error as? Shortage {
            shortage.bytes = bytes
            self = shortage
        } else {
            return nil
        }
    }
}
