// SPDX-License-Identifier: Apache-2.0
package import Testing

/// Why a test of memory, wake-ups, variables or the clock says nothing under a sanitizer (`Tests/Fuzz/sanitize`).
package let sanitizerNote: Comment = "a sanitizer takes memory, time and variables of its own"

package let isSanitized: Bool = {
    #if SANITIZED
        true
    #else
        false
    #endif
}()
