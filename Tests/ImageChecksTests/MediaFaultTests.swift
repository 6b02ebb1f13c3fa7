// SPDX-License-Identifier: Apache-2.0
import ImageChecks
import Testing

@Suite("Faults of ISO media")
struct MediaFaultTests {
    private typealias File = ImageFile

    /// A picture of 4 × 4 pixels before it is cropped.
    private static func cropped(_ aperture: [UInt8]) -> [UInt8] {
        File.media(
            File.fileType("avif"), primary: File.primary(1), properties: [File.extent(4, 4), aperture],
            associations: File.associations([(1, [1, 2])]))
    }

    private static func located(_ locations: [UInt8]) -> [UInt8] {
        File.media(File.fileType("avif"), properties: [File.extent(4, 4)], locations: locations)
    }

    private static func tracked(_ track: [UInt8]) -> [UInt8] {
        File.media(File.fileType("avif"), properties: [File.extent(4, 4)], more: track)
    }

    @Test(
        "faults of ISO media boxes are found",
        arguments: [
            (File.fileType("avif"), "it has no items (meta)"),
            (File.fileType("avif") + File.box("meta"), "a box is too short"),
            (File.fileType("avif") + File.box("meta", [0, 0, 0, 0, 1]), "a box is too short"),
            (File.fileType("avif") + File.box("meta", [0, 0, 0, 0]), "it has no item properties (iprp)"),
            (
                File.fileType("avif") + File.box("meta", [0, 0, 0, 0], File.box("iprp")),
                "it has no list of properties (ipco)"
            ),
            (File.fileType("avif") + [0, 0, 0, 7] + Array("meta".utf8), "a box is too short"),
            (File.fileType("avif") + File.big(1, 4) + Array("meta".utf8) + File.big(15, 8), "a box is too short"),
            (
                File.fileType("avif") + File.big(1, 4) + Array("meta".utf8) + File.big(-1, 8),
                "a number in it is larger than any file"
            ),
            (File.fileType("avif") + File.big(1, 4) + Array("meta".utf8) + File.big(Int.max, 8), nil),
            (
                File.media(File.fileType("avif"), properties: [[0, 0, 0, 99] + Array("ispe".utf8)]),
                "a box is longer than the one around it"
            ),
        ] as [([UInt8], String?)])
    func boxes(bytes: [UInt8], what: String?) {
        expectFault(.avif, bytes, what)
    }

    @Test(
        "faults of ISO media items are found",
        arguments: [
            (File.media(File.fileType("avif"), properties: []), "it does not give its size (ispe)"),
            (File.media(File.fileType("avif"), properties: [File.extent(0, 5)]), "it has no pixels"),
            (File.media(File.fileType("avif"), properties: [File.box("ispe", [0])]), "a box is too short"),
            (File.media(File.fileType("avif"), primary: File.box("pitm"), properties: []), "a box is too short"),
            (
                File.media(
                    File.fileType("avif"), primary: File.primary(9), properties: [File.extent(4, 4)],
                    associations: File.box("ipma", [0, 0, 0, 0], File.big(0xFFFF_FFFF, 4), [0, 9, 1, 1])),
                "its list of associations (ipma) is cut"
            ),
            (
                File.media(
                    File.fileType("avif"), primary: File.primary(9), properties: [File.extent(4, 4)],
                    associations: File.box("ipma", [0, 0, 0, 0], File.big(1, 4), [0, 9, 2, 1])),
                "its list of associations (ipma) is cut"
            ),
            (cropped(File.aperture((5, 1), (4, 1))), "its crop area is larger than the image (clap)"),
            (cropped(File.aperture((4, 1), (4, 0))), "it divides by zero (clap)"),
            (cropped(File.aperture((1, 2), (4, 1))), "it has no pixels"),
            (cropped(File.box("clap", [0])), "a box is too short"),
            (cropped(File.box("irot")), "a box is too short"),
        ] as [([UInt8], String)])
    func items(bytes: [UInt8], what: String) {
        expectFault(.avif, bytes, what)
    }

    @Test(
        "faults of ISO media locations are found",
        arguments: [
            (located([]), "it does not say where its data is (iloc)"),
            (located(File.box("iloc", [0])), "a box is too short"),
            (located(File.locations([])), "it has no data (iloc)"),
            (located(File.locations([(0, 1)], file: 1)), "its data is in another file (iloc)"),
            (located(File.locations([(0, 999)])), nil),
            (located(File.locations([(0xFFFF_FFFF, 1)])), nil),
            (located(File.locations([(0, 1)], method: 1)), "the data of an item is not there (idat)"),
            (
                located(File.box("iloc", [3, 0, 0, 0, 0x44, 0], File.big(1, 4))),
                "the version of its list of locations is unknown (iloc)"
            ),
            (
                located(File.box("iloc", [1, 0, 0, 0, 0x54, 0], File.big(1, 4))),
                "its list of locations has numbers of an unknown length (iloc)"
            ),
            (
                located(File.box("iloc", [1, 0, 0, 0, 0x44, 0], File.big(2, 2), [0])),
                "its list of locations is cut (iloc)"
            ),
            (
                located(
                    File.box(
                        "iloc", [0, 0, 0, 0, 0x88, 0x80], File.big(1, 2), File.big(1, 2), File.big(0, 2),
                        File.big(Int.max, 8), File.big(1, 2), File.big(Int.max, 8), File.big(1, 8))), nil
            ),
            (
                located(
                    File.box(
                        "iloc", [0, 0, 0, 0, 0x44, 0], File.big(1, 2), File.big(1, 2), File.big(0, 2),
                        File.big(2, 2), File.zeros(8))), "its list of locations is cut (iloc)"
            ),
            (tracked(File.track(frames: 1, chunks: [0, 9999])), nil),
            (
                tracked(File.nested(["moov", "trak", "mdia", "minf", "stbl", "stsz"], File.zeros(8) + File.big(1, 4))),
                "its list of samples is cut"
            ),
            (
                tracked(File.nested(["moov", "trak", "mdia", "minf", "stbl", "co64"], File.zeros(4) + File.big(1, 4))),
                "its list of chunks is cut"
            ),
        ] as [([UInt8], String?)])
    func locations(bytes: [UInt8], what: String?) {
        expectFault(.avif, bytes, what)
    }
}
