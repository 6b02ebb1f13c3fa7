// SPDX-License-Identifier: Apache-2.0

package struct ImageInfo: Equatable, Sendable {
    package var type: ImageType
    /// In pixels, at least 1.
    package var width: Int
    /// In pixels, at least 1.
    package var height: Int
}
