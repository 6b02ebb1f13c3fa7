// SPDX-License-Identifier: Apache-2.0
public import SystemPackage

/// An icon whose image is on disk, complete and checked.
public struct Icon: Hashable, Sendable {
    /// The absolute path at which the URL's current image is found, now and after every refresh of it.
    public let path: FilePath
    /// The size of the image that is there now.
    public let bytes: Int
}
