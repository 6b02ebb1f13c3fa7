// SPDX-License-Identifier: Apache-2.0

/// The tracks of an image sequence in an ISO media file (ISO/IEC 14496-12, 8.3 to 8.7).
struct MediaTracks {
    /// The content of `moov`.
    let movie: Range<Int>

    /// The frame count of the longest track; fails if the chunks of a track do not begin within the file.
    func frames(in bytes: RawSpan) throws(ImageFault) -> Int {
        var frames = 0
        var tracks = ISOMedia.Boxes(movie)
        while let track = try tracks.next(in: bytes) {
            guard track.name == "trak", let table = try table(of: track.content, in: bytes) else { continue }
            var boxes = ISOMedia.Boxes(table)
            while let box = try boxes.next(in: bytes) {
                switch box.name {
                case "stsz", "stz2": frames = max(frames, try samples(in: bytes, box))
                case "stco": try checkChunks(in: bytes, box.content, size: 4)
                case "co64": try checkChunks(in: bytes, box.content, size: 8)
                default: continue
                }
            }
        }
        return frames
    }

    private func table(of track: Range<Int>, in bytes: RawSpan) throws(ImageFault) -> Range<Int>? {
        var names: ArraySlice<FourCharacterCode> = ["mdia", "minf", "stbl"]
        var boxes = ISOMedia.Boxes(track)
        while let box = try boxes.next(in: bytes) {
            guard box.name == names.first else { continue }
            names.removeFirst()
            if names.isEmpty { return box.content }
            boxes = ISOMedia.Boxes(box.content)
        }
        return nil
    }

    /// The number of samples; fails if their sizes are not all there.
    private func samples(in bytes: RawSpan, _ box: ISOMedia.Box) throws(ImageFault) -> Int {
        let start = try box.content.atLeast(12).lowerBound
        let count = try bytes.uint32(at: start + 8, .big)
        // In `stz2` the last byte is the size field's width in bits; in `stsz` all samples may share one size.
        let isCompact = box.name == "stz2"
        let common = try bytes.uint32(at: start + 4, .big)
        let bits = isCompact ? common & 0xFF : common == 0 ? 32 : 0
        guard count * bits <= 8 * (box.content.count - 12) else { throw .malformed("its list of samples is cut") }
        return count
    }

    private func checkChunks(in bytes: RawSpan, _ content: Range<Int>, size: Int) throws(ImageFault) {
        let start = try content.atLeast(8).lowerBound
        let count = try bytes.uint32(at: start + 4, .big)
        guard count * size <= content.count - 8 else { throw .malformed("its list of chunks is cut") }
        for index in 0..<count {
            guard try bytes.number(at: start + 8 + index * size, size: size, .big) < bytes.byteCount else {
                throw .truncated
            }
        }
    }
}
