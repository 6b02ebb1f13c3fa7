// SPDX-License-Identifier: Apache-2.0

/// How long a request may take.
package struct RequestLimits: Equatable, Sendable {
    /// How long connecting may take, TLS included.
    package var connectTimeout: Duration
    /// How long a server may be silent.
    package var idleTimeout: Duration
    /// How long it may take as a whole, the body included.
    package var totalTimeout: Duration
    /// The table of the settings that these are: `fetch`.
    package var table: String

    package init(connectTimeout: Duration, idleTimeout: Duration, totalTimeout: Duration, table: String) {
        (self.connectTimeout, self.idleTimeout) = (connectTimeout, idleTimeout)
        (self.totalTimeout, self.table) = (totalTimeout, table)
    }
}
