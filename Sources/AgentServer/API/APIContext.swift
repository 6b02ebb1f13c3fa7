// SPDX-License-Identifier: Apache-2.0
package import Hummingbird

/// The context of a request: who sent it.
///
/// A listener makes a context for each request and sets ``caller``; without that, the request has no access.
package struct APIContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    package var caller: Caller

    package init(source: ApplicationRequestContextSource) {
        self.init(source: source, caller: .unknown)
    }

    package init(source: ApplicationRequestContextSource, caller: Caller) {
        coreContext = CoreRequestContextStorage(source: source)
        self.caller = caller
    }
}
