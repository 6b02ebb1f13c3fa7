// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

extension PartialDownload {
    /// The fewest bytes that are worth a file: smaller bodies are held in memory until they are whole.
    package static let smallest = ByteCount(64 << 10)
    /// How long after its first answer a download may go on.
    package static let lifetime = Duration.seconds(86_400)
    /// The most that are kept, so that no server fills the disk with beginnings.
    package static let mostKept = 64
    package static let mostBytesKept = ByteCount.mebibytes(128)

    /// Whether the rest can be asked for: something is missing, and the first bytes are neither too few nor too old.
    package func canGoOn(at now: Timestamp) -> Bool {
        bytes >= Self.smallest.bytes && bytes < length ?? .max && now - response.responseTime < Self.lifetime
            && !NextCheck.isAhead(response.responseTime, of: now)
    }

    /// Those of the parts on disk that are kept: the newest, as long as they are not too many.
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
    /// Whether the next attempt may go on where this one was cut.
    package var leavesPart: Bool { persistence == .passing || persistence == .throttled }
}
