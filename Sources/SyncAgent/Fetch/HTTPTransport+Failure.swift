// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import SyncPlan
import SystemPackage

extension HTTPTransport {
    /// The refusal of an address that a connection led to.
    static func refusal(in error: any Error) -> AddressPolicy.Refusal? {
        let errors = (error as? NIOConnectionError)?.connectionErrors.map(\.error) ?? [error]
        return errors.lazy.compactMap { $0 as? AddressPolicy.Refusal }.first
    }

    /// What an error says of the agent's own means, whoever was to be connected to.
    static func shortage(in error: any Error) -> Shortage? {
        let errors = (error as? NIOConnectionError)?.connectionErrors.map(\.error) ?? [error]
        return errors.lazy.compactMap { ($0 as? IOError).flatMap { Shortage(Errno(rawValue: $0.errnoCode)) } }.first
    }

    private static let unreachable = [ECONNREFUSED, ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN, EADDRNOTAVAIL]

    private static let closed = FetchFailure(
        "connection-closed", "the server closed the connection before the end", .passing)

    /// What an error of BoringSSL says to people; its own text names lines of its source.
    private static func reason(ofTLS error: String) -> String {
        if error.contains("CERTIFICATE_VERIFY_FAILED") || error.contains("unableToValidateCertificate") {
            return "the server's certificate is not trusted: correct it, or name its authority in fetch.caFile"
        }
        if error.contains("WRONG_VERSION_NUMBER") { return "the server does not speak TLS" }
        return "no TLS connection to the server can be made"
    }

    /// What an error of the library means.
    static func failure(of error: any Error) -> any Error {
        switch error {
        case is CancellationError: return CancellationError()
        case let error as HTTPClientError:
            switch error {
            case .cancelled: return Task.isCancelled ? CancellationError() : Self.closed
            case .connectTimeout, .tlsHandshakeTimeout:
                return FetchFailure.timeout("fetch.connectTimeout to connect")
            case .readTimeout, .deadlineExceeded: return FetchFailure.timeout("fetch.idleTimeout to go on")
            case .remoteConnectionClosed: return Self.closed
            default: return FetchFailure.protocolViolation("\(error)")
            }
        case let error as NIOConnectionError:
            if error.connectionErrors.isEmpty {
                return FetchFailure("dns", "the name \(error.host) cannot be resolved", .passing)
            }
            return FetchFailure("connect", "no connection to \(error.host) port \(error.port)", .passing)
        case let error as IOError where unreachable.contains(error.errnoCode):
            return FetchFailure("connect", "no connection (\(error))", .passing)
        case is ChannelError, is IOError:
            return FetchFailure("connection-closed", "the connection broke (\(error))", .passing)
        case is StaleConnection, is UnprocessedRequest, HTTPParserError.closedConnection,
            HTTPParserError.invalidEOFState:
            return Self.closed
        case is HTTPParserError: return FetchFailure.protocolViolation("\(error)")
        default:
            if error is NIOSSLError || error is BoringSSLError || error is NIOSSLExtraError {
                return FetchFailure("tls", reason(ofTLS: "\(error)"), .lasting)
            }
            return FetchFailure("protocol", "the download failed (\(error))", .passing)
        }
    }
}
