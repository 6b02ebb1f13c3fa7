// SPDX-License-Identifier: Apache-2.0
package import Hummingbird

/// What is known of a request besides its text: whose it is.
///
/// A listener makes one for each request, and sets ``caller``; without that, the request may do nothing.
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
