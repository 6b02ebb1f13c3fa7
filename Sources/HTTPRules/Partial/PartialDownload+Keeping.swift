// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

extension PartialDownload {
    /// The fewest bytes worth a file; smaller bodies stay in memory until they are complete.
    package static let smallest = ByteCount(64 << 10)
    /// The fewest new bytes that are worth a request of their own.
    package static let leastProgress = ByteCount(16 << 10)
    /// How long after its first response a download may be resumed.
    package static let lifetime = Duration.seconds(86_400)
    /// The most parts to keep, so that no server fills the disk with them.
    package static let mostKept = 64
    package static let mostBytesKept = ByteCount.mebibytes(128)

    /// Whether the rest can be requested: the part is incomplete, large enough and recent.
    package func canGoOn(at now: Timestamp) -> Bool {
        bytes >= Self.smallest.bytes && bytes < length ?? .max && now - response.responseTime < Self.lifetime
            && !NextCheck.isAhead(response.responseTime, of: now)
    }

    package static func kept(of parts: some Sequence<PartialDownload>, at now: Timestamp) -> [PartialDownload] {
        let newest = parts.filter { $0.canGoOn(at: now) }
            .sorted { $0.response.responseTime > $1.response.responseTime }
        var room = mostBytesKept.bytes
        return Array(
            newest.prefix(mostKept).prefix { part in
                room -= part.bytes
                return room >= 0
            })
    }
}

extension FetchFailure {
    package var leavesPart: Bool {
        switch persistence {
        case .passing, .momentary, .throttled: true
        case .lasting, .forbidden, .gone, .refused: code == .fetch(.cutShort)
        }
    }
}
