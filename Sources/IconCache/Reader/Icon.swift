// SPDX-License-Identifier: Apache-2.0
public import SystemPackage

/// An icon whose image is on disk, complete and checked.
public struct Icon: Hashable, Sendable {
    /// The absolute path of the URL's current image; it stays the same over every refresh.
    public let path: FilePath
    /// The size of the current image, in bytes.
    public let bytes: Int
}
