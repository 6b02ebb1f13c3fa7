// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// A time is stored in milliseconds since 1970.
extension Timestamp: Codable {
    /// Creates a time from milliseconds since 1970; `nil` if RFC 3339 cannot write it.
    package init?(milliseconds: Int64) {
        guard (-62_167_219_200_000...253_402_300_799_999).contains(milliseconds) else { return nil }
        self.init(sinceEpoch: .milliseconds(milliseconds))
    }

    package var milliseconds: Int64 { sinceEpoch.milliseconds }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let time = Timestamp(milliseconds: try container.decode(Int64.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "RFC 3339 cannot write this time")
        }
        self = time
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(milliseconds)
    }
}

/// A digest is stored as its hexadecimal digits.
extension Digest: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let digest = Digest(hex: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "this is not a digest")
        }
        self = digest
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(hex)
    }
}
