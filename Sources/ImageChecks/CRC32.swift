// SPDX-License-Identifier: Apache-2.0
import CDeflate

/// The checksum of PNG chunks: the CRC of ISO 3309 and ITU-T V.42, bits reflected.
package enum CRC32 {
    package static func checksum(of bytes: RawSpan, in range: Range<Int>) -> UInt32 {
        bytes.extracting(range).withUnsafeBytes { libdeflate_crc32(0, $0.baseAddress, $0.count) }
    }
}
