// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import DashboardPage
import Hummingbird
import NIOCore

struct DashboardSite: Sendable {
    typealias Answer = @Sendable (Request, Access, any Channel) async throws -> Response

    let images: ImageSite
    let tokens: DashboardTokens
    /// The access of a request without a token.
    let anonymous: Access
    let api: Answer

    /// The content security policy: the page may use only resources of this listener.
    ///
    /// An image element cannot send a token. If reading needs a token, the page fetches images and shows them as blobs.
    private var policy: String {
        """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'\(anonymous < .read ? " blob:" : ""); \
        connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'
        """
    }

    func respond(to request: Request, on channel: any Channel) async throws -> Response {
        let door = WebGuard(port: channel.localAddress?.port ?? 0, anonymous: anonymous, tokens: tokens)
        let access: Access
        do throws(WebGuard.Refusal) {
            access = try door.access(of: request)
        } catch {
            return guarded(.refusal(error.answer))
        }
        let path = request.uri.path
        if path.starts(withBytes: "/v1/") {
            var response = try await api(request, access, channel)
            response.headers[.access] = "\(access)"
            response.headers[.anonymous] = "\(anonymous)"
            if !response.headers.contains(.cacheControl) { response.headers[.cacheControl] = "no-store" }
            return guarded(response)
        }
        if ImageSite.isImage(path) {
            guard access >= .read else {
                return guarded(.refusal(.forbidden, "forbidden", "Open the page with syncagent dashboard."))
            }
            return await images.respond(to: request)
        }
        return guarded(await request.reading { page(path, to: request) })
    }

    private func page(_ path: String, to request: Request) -> Response {
        guard let file = dashboard_file(path)?.pointee else {
            return .refusal(.notFound, "no-such-path", "The dashboard is at /.")
        }
        let bytes = UnsafeRawBufferPointer(start: file.bytes, count: file.length)
        // The entity tag is computed from the contents: another version of the program serves other files at the same
        // paths.
        var hash = SHA256()
        hash.update(bytes)
        let tag = "\"\(hash.finish().hex)\""
        let headers: HTTPFields = [.eTag: tag, .cacheControl: "no-cache", .contentType: String(cString: file.type)]
        if Revalidation.isCurrent(request.headers[.ifNoneMatch], tag: tag) {
            return Response(status: .notModified, headers: [.eTag: tag, .cacheControl: "no-cache"])
        }
        let body = ResponseBody(byteBuffer: ByteBuffer(bytes: bytes))
        return Response(status: .ok, headers: headers, body: body)
    }

    private func guarded(_ response: Response) -> Response {
        var response = response
        response.headers[.contentSecurityPolicy] = policy
        response.headers[.xContentTypeOptions] = "nosniff"
        response.headers[.referrerPolicy] = "no-referrer"
        response.headers[.resourcePolicy] = "same-origin"
        response.headers[.openerPolicy] = "same-origin"
        return response
    }
}
