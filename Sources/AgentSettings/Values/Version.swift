// SPDX-License-Identifier: Apache-2.0

package enum Version {
    package static let current = "0.1.0"
}
