// SPDX-License-Identifier: Apache-2.0

package enum Version {
    package static let current = "1.0.0"
}
