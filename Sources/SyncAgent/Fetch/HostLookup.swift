// SPDX-License-Identifier: Apache-2.0
import Transfers

/// A call of the system's resolver.
typealias HostLookup = BlockingCall<SystemResolver.Answer>

extension HostLookup {
    convenience init(_ host: String, _ family: SystemResolver.Family = .any) {
        self.init("resolver") { SystemResolver.lookUp(host, family) }
    }
}
