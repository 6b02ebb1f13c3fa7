// SPDX-License-Identifier: Apache-2.0
import Hummingbird

/// What a client may do; each case includes the ones before.
enum Access: Comparable, Sendable {
    case none, read, change
}

/// A client as identified by its listener.
struct Caller: Equatable, Sendable {
    var access: Access
    /// A sentence for clients that may not read or change things: who may, and how to become one of them.
    var advice: String

    /// A client that no listener identified.
    static let unknown = Caller(access: .none, advice: "This listener serves no requests.")
}

/// The context of a request: who sent it.
///
/// A listener makes a context for each request and sets ``caller``; without that, the request has no access.
struct APIContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    var caller = Caller.unknown

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
    }
}
