// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import FoundationEssentials
import SyncPlan
import SystemPackage
import TestSupport
import Testing

extension RawOrigin {
    /// Runs an origin that speaks TLS.
    ///
    /// - Parameters:
    ///   - host: The address to listen on, one of loopback's.
    ///   - port: The port to listen on, or 0 for any that is free.
    ///   - protocols: The protocols that may be agreed on.
    ///   - script: What to do for a request.
    ///   - body: Gets the origin, and what makes settings trust it.
    /// - Throws: What the body throws, or the error of what could not be set up.
    static func runSecure(
        host: String = "127.0.0.1", port: Int = 0, protocols: [String] = ["h2"],
        _ script: @escaping @Sendable (Request) -> [Step],
        _ body: (RawOrigin, _ trust: (inout Settings) -> Void) async throws -> Void
    ) async throws {
        let identity = try await TLSIdentity.shared
        try await withTemporaryFolder { folder in
            let file = folder.appending("authorities.pem").string
            try identity.certificate.write(toFile: file, atomically: false, encoding: .utf8)
            try await run(host: host, port: port, identity: identity, protocols: protocols, script) { origin in
                try await body(origin) { $0.fetch.caFile = file }
            }
        }
    }
}

extension Trait where Self == ConditionTrait {
    /// The test needs a certificate.
    static var hasIdentity: Self {
        .enabled(if: TLSIdentity.isAvailable, "openssl(1) is not there to make a certificate")
    }
}
