// SPDX-License-Identifier: Apache-2.0

extension PNG {
    /// Checks the frames of an animation (`acTL`, `fcTL` and `fdAT` in the Third Edition).
    ///
    /// The default picture is the first frame if an `fcTL` precedes it; otherwise it is not a frame.
    struct Animation {
        private let size: PixelSize
        private let announced: Int
        private var frames = 0
        private var sequence = 0
        private var hasDefaultPicture = false
        private var awaitsData = false

        init(of size: PixelSize, in bytes: RawSpan, _ content: Range<Int>) throws(ImageFault) {
            guard content.count == 8 else { throw .malformed("the length of its animation control is wrong (acTL)") }
            announced = try bytes.uint32(at: content.lowerBound, .big)
            self.size = size
        }

        /// Handles an `IDAT`.
        mutating func defaultPicture() {
            hasDefaultPicture = true
            awaitsData = false
        }

        /// Handles an `fcTL`, which begins a frame.
        mutating func control(in bytes: RawSpan, _ content: Range<Int>) throws(ImageFault) {
            guard content.count == 26 else { throw .malformed("the length of a frame control is wrong (fcTL)") }
            guard !awaitsData else { throw .malformed("a frame has no data") }
            try count(in: bytes, content)
            let start = content.lowerBound
            let frame = PixelSize(
                width: try bytes.uint32(at: start + 4, .big), height: try bytes.uint32(at: start + 8, .big))
            let place = (x: try bytes.uint32(at: start + 12, .big), y: try bytes.uint32(at: start + 16, .big))
            guard !frame.isEmpty, frame.fits(at: place, in: size) else {
                throw .malformed("a frame does not fit into the picture (fcTL)")
            }
            guard hasDefaultPicture || frame == size else {
                throw .malformed("its first frame is not the whole picture (fcTL)")
            }
            frames += 1
            awaitsData = true
        }

        /// Handles an `fdAT`: data of a frame other than the default picture.
        mutating func data(in bytes: RawSpan, _ content: Range<Int>) throws(ImageFault) {
            guard content.count >= 4 else { throw .malformed("a piece of a frame is too short (fdAT)") }
            guard hasDefaultPicture, frames > 0 else { throw .malformed("data comes before its frame (fdAT)") }
            try count(in: bytes, content)
            if content.count > 4 { awaitsData = false }
        }

        func end() throws(ImageFault) -> Int {
            guard !awaitsData else { throw .malformed("a frame has no data") }
            guard frames == announced, frames > 0 else { throw .malformed("its number of frames is wrong (acTL)") }
            return frames
        }

        private mutating func count(in bytes: RawSpan, _ content: Range<Int>) throws(ImageFault) {
            guard try bytes.uint32(at: content.lowerBound, .big) == sequence else {
                throw .malformed("its frames are out of order")
            }
            sequence += 1
        }
    }
}
