// SPDX-License-Identifier: Apache-2.0
import Transfers

/// A call of the system's resolver.
typealias HostLookup = BlockingCall<SystemResolver.Answer>

extension HostLookup {
    convenience init(_ host: String, _ family: SystemResolver.Family = .any, by lookUp: @escaping Resolver.LookUp) {
        self.init("resolver") { lookUp(host, family) }
    }
}
