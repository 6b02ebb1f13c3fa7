// SPDX-License-Identifier: Apache-2.0

/// File systems that other hosts can change, or that a program serves.
package enum RemoteFileSystem {
    /// The name of a remote file system, by its type (statfs(2)); `nil` for a local one.
    package static func name(of magic: UInt32) -> String? { names[magic] }

    private static let names: [UInt32: String] = [
        0x6969: "NFS", 0xFF53_4D42: "CIFS", 0xFE53_4D42: "SMB", 0x517B: "SMB", 0x6573_5546: "FUSE",
        0x0102_1997: "9P", 0x00C3_6400: "Ceph", 0x5346_414F: "AFS", 0x7375_7245: "Coda", 0x0BD0_0BD0: "Lustre",
        0x786F_4256: "vboxsf",
    ]
}
