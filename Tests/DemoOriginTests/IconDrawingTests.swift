// SPDX-License-Identifier: Apache-2.0
import DemoOrigin
import Testing

@Suite("A drawn icon")
struct IconDrawingTests {
    @Test(
        "a drawn icon is a PNG of the side asked for, with every checksum right",
        arguments: [1, 2, 7, 8, 63, 64, 65, 400])
    func structure(side: Int) throws {
        let file = try PNGContents(IconDrawing("Mail", side: side).png())
        #expect(file.chunks.map(\.type) == ["IHDR", "PLTE", "tRNS", "IDAT", "IEND"])
        #expect(try file.size() == (side, side))
        let colours = try file.content(of: "PLTE").count / 3
        #expect(try file.pixels().joined().allSatisfy { $0 < colours })
        #expect(try file.content(of: "tRNS").count == colours)
    }

    @Test(
        "a drawn icon has transparent corners and is its own mirror image",
        arguments: ["Mail", "", "Ünï/çødé", "a", "b"])
    func shape(name: String) throws {
        let pixels = try PNGContents(IconDrawing(name).png()).pixels()
        #expect(pixels[0][0] == 0)
        #expect(pixels[63][63] == 0)
        #expect(pixels.allSatisfy { $0 == $0.reversed() })
        #expect(Set(pixels.joined()).count > 2, "a background, a glyph and smooth corners")
    }

    @Test("a drawn icon is the same for the same name, and another for another")
    func deterministic() {
        let names = (0..<200).map { "app \($0)" }
        #expect(names.map { IconDrawing($0).png() } == names.map { IconDrawing($0).png() })
        #expect(Set(names.map { IconDrawing($0).png() }).count > 190)
        #expect(Set(names.map { IconDrawing($0).entityTag }).count == 200)
    }

    @Test(
        "a drawn icon is padded to the size asked for, by a chunk that decoders pass over",
        arguments: [2256, 4096, 12_288, 70_000])
    func padding(size: Int) throws {
        let file = IconDrawing("Mail", paddedTo: size).png()
        #expect(file.count == size)
        let padded = try PNGContents(file)
        #expect(padded.chunks.map(\.type) == ["IHDR", "PLTE", "tRNS", "IDAT", "paDd", "IEND"])
        #expect(try padded.pixels() == PNGContents(IconDrawing("Mail").png()).pixels())
    }

    @Test("a drawn icon keeps its own size where there is no room for padding", arguments: [0, 1, 2244, 2255])
    func noRoom(size: Int) {
        #expect(IconDrawing("Mail", paddedTo: size).png().count == 2244)
    }
}
