// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Testing

@testable import ImageChecks

@Suite("Drawings")
struct SVGTests {
    private typealias File = ImageFile

    private let inspector = ImageInspector(limits: ImageLimits(allowsSVG: true))

    @Test("a drawing is no image unless the limits say so", arguments: ImageSample.all.filter { $0.info.type == .svg })
    func off(sample: ImageSample) {
        #expect(!ImageLimits().allowsSVG)
        let error = #expect(throws: ImageRejection.self) { try ImageInspector().verdict(on: sample.bytes).get() }
        #expect(error?.code == .notAnImage)
    }

    @Test(
        "text that is no SVG is no image where SVG is allowed",
        arguments: [
            ("<html><svg xmlns='http://www.w3.org/2000/svg'/></html>", "HTML"), ("<!DOCTYPE html><svg/>", "HTML"),
            ("{}", "JSON"), ("<?xml version='1.0'?><feed/>", "XML"), ("x <svg/>", "text"), ("<SVG/>", "SVG"),
        ])
    func otherText(text: String, hint: String) {
        #expect(inspector.verdict(on: Array(text.utf8)) == .failure(.notAnImage(hint: hint)))
    }

    @Test(
        "the size of an SVG is that of its root, in pixels",
        arguments: [
            ("width='8' height='9'", 8, 9), ("width=' 8px ' height='9.4'", 8, 9), ("width='0.2' height='+1e1'", 1, 10),
            ("width='1in' height='72pt' viewBox='0 0 1 1'", 96, 96), ("width='2.54cm' height='25.4mm'", 96, 96),
            ("width='2pc' height='101.6Q'", 32, 96), ("viewBox='0 0 24 16'", 24, 16),
            ("viewBox=' -1,-2\n24.0 , 16'", 24, 16), ("width='48' viewBox='0 0 24 16'", 48, 32),
            ("height='32' viewBox='0 0 24 16'", 48, 32), ("width='100%' height='100%' viewBox='0 0 5 6'", 5, 6),
            ("width='3em' height='auto' viewBox='0 0 5 6'", 5, 6),
        ])
    func size(attributes: String, width: Int, height: Int) {
        let bytes = File.svg(attributes: attributes)
        #expect(inspector.verdict(on: bytes) == .success(ImageInfo(type: .svg, width: width, height: height)))
    }

    @Test(
        "an SVG without a size, or with an empty one, is damaged",
        arguments: [
            ("", "it does not give its size (width, height or viewBox)"),
            ("width='8'", "it does not give its size (width, height or viewBox)"),
            ("width='8 px' height='8'", "it does not give its size (width, height or viewBox)"),
            ("width='nan' height='0x8'", "it does not give its size (width, height or viewBox)"),
            ("viewBox='0 0 8'", "it does not give its size (width, height or viewBox)"),
            ("width='8' viewBox='0 0 0 8'", "it does not give its size (width, height or viewBox)"),
            ("width='0' height='8'", "it has no pixels"), ("width='8' height='-8'", "it has no pixels"),
        ])
    func noSize(attributes: String, what: String) {
        expectFault(.svg, File.svg(attributes: attributes), what)
    }

    @Test(
        "the size of an SVG has limits, however large the number",
        arguments: [("5000", 5000), ("1e300", 1_000_000_000)])
    func limits(width: String, pixels: Int) {
        let rejection = ImageRejection.tooLarge(
            width: pixels, height: 8, limits: ImageLimits(allowsSVG: true))
        #expect(inspector.verdict(on: File.svg(attributes: "width='\(width)' height='8'")) == .failure(rejection))
    }

    @Test(
        "an SVG that is not well-formed is damaged",
        arguments: [
            ("<g>", "its tags do not match"), ("<g></h>", "its tags do not match"), ("</svg>", "its tags do not match"),
            ("<g", "a tag is malformed"), ("<", "a name is missing"), ("< g/>", "a name is missing"),
            ("<1/>", "a name does not begin with a letter"),
            ("<g a/>", "a tag is malformed"), ("<g a=1/>", "an attribute has no quotes"),
            ("<g a='1'b='2'/>", "a tag is malformed"), ("<g / >", "a tag is malformed"),
            ("<g a='<'/>", "a value has a tag in it"), ("&nbsp;", "it refers to an entity"),
            ("&", "it refers to an entity"), ("<g a='&lt'/>", "it refers to an entity"),
            ("&#;", "a reference is to no character"), ("&#0;", "a reference is to no character"),
            ("&#xD800;", "a reference is to no character"), ("&#x110000;", "a reference is to no character"),
            ("&#99999999999999999999;", "a reference is no number"), ("&#1a;", "a reference is no number"),
            ("<!ELEMENT a>", "it has a declaration of an unknown kind"),
            ("<?xml version='1.0'?>", "its XML declaration is out of place"), ("\u{1}", "it has control characters"),
            ("<style><g/></style>", "an element is within a style"),
            (String(repeating: "<g>", count: 256), "its elements nest deeper than 256"),
        ])
    func malformed(content: String, what: String) {
        expectFault(.svg, File.svg(content), what)
    }

    @Test(
        "an SVG with text around its root, or in another encoding, is damaged",
        arguments: [
            (File.svg(after: "<g/>"), "it has two roots"), (File.svg(after: "x"), "text is outside its root"),
            (File.svg() + [0], "it has control characters"),
            (Array("<svg width='1' height='1'/>".utf8), "its root is not in the namespace of SVG"),
            (Array("<?xml encoding='utf-16'?>".utf8) + File.svg(), "it is not in UTF-8"),
            (Array("<!--".utf8) + [0xC0, 0xBC] + Array("-->".utf8) + File.svg(), "it is not in UTF-8"),
            (Array("<!--".utf8) + [0xED, 0xA0, 0x80] + Array("-->".utf8) + File.svg(), "it is not in UTF-8"),
            (Array("<!--".utf8) + [0xE4, 0x2D] + Array("-->".utf8) + File.svg(), "it is not in UTF-8"),
        ] as [([UInt8], String)])
    func around(bytes: [UInt8], what: String) {
        expectFault(.svg, bytes, what)
    }

    @Test("comments and white space may follow the root of an SVG")
    func afterRoot() throws {
        _ = try inspector.verdict(on: File.svg(after: "\n<!-- a -->\r\n\t")).get()
    }
}
