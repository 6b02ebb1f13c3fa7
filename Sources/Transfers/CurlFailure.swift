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
            var result = 0
            return untrusted(curl_get_long(handle, CURLINFO_SSL_VERIFYRESULT, &result) == CURLE_OK ? result : 0)
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

    /// The failure for a certificate that is not accepted, by the result of OpenSSL's verification (`X509_V_ERR_…`).
    static func untrusted(_ result: Int) -> FetchFailure {
        let text =
            switch result {
            // libcurl compares the name itself, and then leaves success or its initial value there.
            case 0, 1, 62: "is for another host: correct the host in the URL, or the certificate on the server"
            case 9: "is not valid yet: correct the clock of this machine, or the certificate on the server"
            case 10: "has expired: renew it on the server, or correct the clock of this machine"
            case 18...21:
                "is not trusted: correct it, or add its CA certificate to the system's, or to fetch.caFile if that is set"
            default: "is not accepted (X.509 error \(result)): correct it on the server"
            }
        return FetchFailure(.tls, "the server's certificate \(text)")
    }

    /// The system error of a failed connection.
    private static func systemReason(_ handle: UnsafeMutableRawPointer) -> String? {
        var number = 0
        guard curl_get_long(handle, CURLINFO_OS_ERRNO, &number) == CURLE_OK, number != 0 else { return nil }
        return String(cString: strerror(Int32(number)))
    }
}
