// SPDX-License-Identifier: Apache-2.0
import NIOHTTP1
import WebAddresses

/// What may be asked at `metrics.listen`.
enum MetricsRequest {
    /// Why a request is refused; `nil` if it is answered.
    ///
    /// A page in a browser of this machine could have a name of its own stand for 127.0.0.1 (DNS rebinding); so the host
    /// must be an address, or `localhost`.
    static func refusal(of head: HTTPRequestHead) -> HTTPResponseStatus? {
        guard head.headers["host"].allSatisfy(isLocal) else { return .misdirectedRequest }
        guard head.uri.prefix(while: { $0 != "?" }) == "/metrics" else { return .notFound }
        return head.method == .GET || head.method == .HEAD ? nil : .methodNotAllowed
    }

    private static func isLocal(_ host: String) -> Bool {
        var name = host[...]
        if let colon = name.lastIndex(of: ":"), name[colon...].dropFirst().allSatisfy(\.isNumber) {
            name = name[..<colon]
        }
        if name.hasPrefix("["), name.hasSuffix("]") { name = name.dropFirst().dropLast() }
        return name.lowercased() == "localhost" || IPAddress(String(name)) != nil
    }
}
