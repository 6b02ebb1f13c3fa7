// SPDX-License-Identifier: Apache-2.0
import AppLists
import CCurl
import Glibc
import HTTPRules

/// Translates errors of libcurl.
enum CurlFailure {
    static let closed = FetchFailure(
        .connectionClosed, "the server closed the connection before the response was complete")

    /// The connection has no peer any more when the request is about to be sent.
    static let lost = FetchFailure(.connectionClosed, "the server closed the connection before the request was sent")

    /// The failure for an error code of a transfer.
    static func error(_ code: CURLcode, _ handle: UnsafeMutableRawPointer, _ limits: RequestLimits) -> any Error {
        let reason = String(cString: curl_easy_strerror(code))
        var answer = 0
        if curl_get_long(handle, CURLINFO_HTTP_CONNECTCODE, &answer) == CURLE_OK, answer >= 300 {
            return FetchFailure(.connect, "the proxy refuses to connect to the server: it answered \(answer)")
        }
        switch code {
        // libcurl also reports a header line longer than 100 KiB this way.
        case CURLE_OUT_OF_MEMORY: return FetchFailure.protocolViolation("a head that is too long", .passing)
        case CURLE_OPERATION_TIMEDOUT: return FetchFailure.timeout("\(limits.table).connectTimeout to connect")
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            return FetchFailure(.dns, "the host name cannot be resolved")
        case CURLE_COULDNT_CONNECT, CURLE_PROXY, CURLE_INTERFACE_FAILED:
            return FetchFailure(.connect, "cannot connect (\(systemReason(handle) ?? reason))")
        case CURLE_PEER_FAILED_VERIFICATION:
            return FetchFailure(
                .tls,
                "the server's certificate is not trusted: correct it, or add its CA certificate to the system's, or to "
                    + "fetch.caFile if that is set")
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_CACERT_BADFILE, CURLE_USE_SSL_FAILED:
            return FetchFailure(.tls, "the TLS handshake with the server failed")
        case CURLE_SSL_CERTPROBLEM:
            return FetchFailure(
                .authRefused,
                "the client certificate or its key cannot be used: correct it, and reload the agent")
        case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_SEND_ERROR: return closed
        // These also mean malformed chunks or frames.
        case CURLE_RECV_ERROR, CURLE_HTTP2_STREAM, CURLE_HTTP2:
            return FetchFailure(.connectionClosed, "the connection broke before the response was complete (\(reason))")
        case CURLE_URL_MALFORMAT:
            return FetchFailure(URLRefusal.malformed("it does not follow RFC 3986"))
        default: return FetchFailure.protocolViolation(reason)
        }
    }

    /// The system error of a failed connection.
    private static func systemReason(_ handle: UnsafeMutableRawPointer) -> String? {
        var number = 0
        guard curl_get_long(handle, CURLINFO_OS_ERRNO, &number) == CURLE_OK, number != 0 else { return nil }
        return String(cString: strerror(Int32(number)))
    }
}
