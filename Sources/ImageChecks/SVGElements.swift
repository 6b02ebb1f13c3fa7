// SPDX-License-Identifier: Apache-2.0

/// The names of elements that a drawing may have without a prefix.
///
/// An element of HTML would end the drawing in a page: what follows it is read by other rules there.
enum SVGElements {
    static func check(_ name: Range<Int>, in bytes: RawSpan) throws(ImageFault) {
        let text = name.count <= longest ? try bytes.text(in: name) : ""
        guard !accepted.contains(Array(text.utf8)) else { return }
        let isShown = !text.isEmpty && text.utf8.allSatisfy { $0 < 0x80 }
        throw .forbidden("it has an element that is not SVG's\(isShown ? " (\(text))" : "")")
    }

    private static let longest = 32

    /// Those of SVG 1.1 and 2, Filter Effects and the flowed text of Inkscape, without the elements that ``SVGPolicy``
    /// refuses and without `font`, which can end a drawing; then those that Illustrator, and editors of
    /// Creative Commons metadata, write without a prefix.
    private static let accepted = Set(names.utf8.split { $0 == 0x20 || $0 == 0x0A }.map(Array.init))

    private static let names = """
        a altGlyph altGlyphDef altGlyphItem animate animateColor animateMotion animateTransform circle clipPath
        color-profile cursor defs desc discard ellipse feBlend feColorMatrix feComponentTransfer feComposite
        feConvolveMatrix feDiffuseLighting feDisplacementMap feDistantLight feDropShadow feFlood feFuncA feFuncB
        feFuncG feFuncR feGaussianBlur feImage feMerge feMergeNode feMorphology feOffset fePointLight
        feSpecularLighting feSpotLight feTile feTurbulence filter flowDiv flowLine flowPara flowRegion
        flowRegionExclude flowRoot flowSpan font-face font-face-format font-face-name font-face-src font-face-uri g
        glyphRef hatch hatchpath image line linearGradient marker mask mesh meshgradient meshpatch meshrow metadata
        mpath path pattern polygon polyline radialGradient rect set solidColor solidcolor stop style svg switch
        symbol text textPath title tref tspan use view
        comment midPointStop sfw slice sliceSourceBounds slices Agent License RDF Work permits prohibits requires
        """
}
