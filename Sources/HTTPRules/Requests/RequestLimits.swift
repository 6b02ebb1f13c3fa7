// SPDX-License-Identifier: Apache-2.0

package struct RequestLimits: Equatable, Sendable {
    /// Timeout for connecting, TLS included.
    package var connectTimeout: Duration
    /// Timeout for a silent server.
    package var idleTimeout: Duration
    /// Timeout for the whole request, the body included.
    package var totalTimeout: Duration
    /// The table of the settings that these limits come from, such as `fetch`.
    package var table: String

    package init(connectTimeout: Duration, idleTimeout: Duration, totalTimeout: Duration, table: String) {
        (self.connectTimeout, self.idleTimeout) = (connectTimeout, idleTimeout)
        (self.totalTimeout, self.table) = (totalTimeout, table)
    }
}
