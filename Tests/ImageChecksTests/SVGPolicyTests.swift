// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import ImageChecks

@Suite("The SVG policy")
struct SVGPolicyTests {
    private let inspector = ImageInspector(limits: ImageLimits(allowsSVG: true))

    @Test(
        "an SVG that could run code or load anything is refused",
        arguments: [
            "<script/>", "<x:SCRIPT xmlns:x='y'>1</x:SCRIPT>", "<foreignObject/>", "<handler/>", "<iframe/>",
            "<g onload='a()'/>", "<g ONclick=''/>", "<g xmlns='http://www.w3.org/1999/xhtml'/>",
            "<g xmlns:h='http://www.w3.org/1999/&#120;html'/>", "<g xml:base='http://a.example/'/>",
            "<image href='http://a.example/a.png'/>", "<image xlink:href='//a.example/a.png'/>",
            "<use href='a.svg#b'/>", "<a href='javascript:a()'/>", "<a href='&#106;avascript:a()'/>",
            "<image href='file:///etc/passwd'/>", "<image href='data:image/svg+xml,a'/>",
            "<a href='data:text/html,a'/>",
            "<feImage href=' http://a.example'/>", "<set attributeName='href' to='#a'/>",
            "<animate attributeName=' xlink:href '/>", "<set attributeName='onload'/>",
            "<g style='fill:url(http://a.example/)'/>", "<g fill='URL( \"a.svg#b\" )'/>", "<g fill='url('/>",
            "<g fill='url(&quot;&apos;#a)'/>", "<style>a{fill:url('\"data:image/png/../b.png')}</style>",
            "<g fill='&#117;rl(//a.example)'/>", "<g style='fill:\\75rl(//a.example)'/>", "<g mask='src(\"a\")'/>",
            "<g style='background:image-set(\"a.png\" 1x)'/>", "<style>@import 'a.css';</style>",
            "<style>@IMPORT 'a.css';</style>", "<style>a{fill:url(a.svg)}</style>",
            "<style>a{fill:u<!-- -->rl(a.svg)}</style>", "<style>a{fill:ur<![CDATA[l(a.svg)]]>}</style>",
            "<style>a{fill:url(</style>", "<style>a{fill:\\75rl(#a)}</style>", "<s:style xmlns:s='x'>@import</s:style>",
            "<img srcset='a'/>", "<g srcset='#a, b.png 2x'/>", "<META/>", "<?xml-stylesheet href='a.css'?>",
            "<!DOCTYPE svg>",
        ])
    func refused(content: String) throws {
        let error = #expect(throws: ImageRejection.self) { try inspector.verdict(on: ImageFile.svg(content)).get() }
        #expect(error?.code == .unsafe)
    }

    /// In a page, each of these ended the drawing, or one of its parts, before the script.
    @Test(
        "an SVG that HTML reads differently is refused",
        arguments: [
            "<!-->S-->", "<!--->S-->", "<!-- --!>S -->", "<!-- a--->", "<?x > S ?>", "<?x?>", "<?php?>",
            "<?xpacket >S?>", "<style><![CDATA[S]]></style>", "<metadata><![CDATA[>S]]></metadata>",
            "<desc><![CDATA[a]]></desc>", "<title><g/></title>", "<desc><x:a/></desc>", "<title><!-- a --></title>",
            "<desc><?xpacket?></desc>", "<p/>", "<p><![CDATA[>S]]></p>", "<font color='red'/>", "<PATH/>", "<Title/>",
            "<noscript/>", "<desc><xmp><!--</xmp>S--></xmp></desc>",
            "<desc><style><![CDATA[</style>S]]></style></desc>",
            "<math/>", "<table background='http://a.example/a.png'/>", "<g background='a.png'/>", "<g Poster=''/>",
            "<a href='#a' ping='http://a.example/'/>", "<g formaction='a'/>", "<image href='&quot;#a'/>",
            "<set attributeName='\(String(repeating: "a", count: 64)):href' to='a'/>",
        ])
    func refusedInPage(content: String) throws {
        let content = content.replacing("S", with: "<script>document.title=1</script>")
        let error = #expect(throws: ImageRejection.self) { try inspector.verdict(on: ImageFile.svg(content)).get() }
        #expect(error?.code == .unsafe)
    }

    @Test("an SVG whose root has a prefix is refused: to HTML it is no drawing")
    func prefixedRoot() {
        let bytes = Array("<s:svg xmlns:s='http://www.w3.org/2000/svg' width='8' height='8'/>".utf8)
        #expect(inspector.verdict(on: bytes) == .failure(.unsafe(.svg, what: "its root has a prefix")))
    }

    @Test(
        "an XML declaration with the end of a tag is refused",
        arguments: ["<?xml version='1.0' > <g/> ?>", "<?xml version='>'?>"])
    func declaration(_ declaration: String) throws {
        let bytes = Array(declaration.utf8) + ImageFile.svg()
        let error = #expect(throws: ImageRejection.self) { try inspector.verdict(on: bytes).get() }
        #expect(error?.code == .unsafe)
    }

    @Test(
        "an SVG whose uses stand for too much, or for themselves, is refused",
        arguments: [
            (tenThousand + "<use href='#a'/>", "its “use” elements stand for more than 10000 elements"),
            (
                "<use href='#a'/>" + String(repeating: "<g id='a'>", count: 200)
                    + String(repeating: "<use href='#none'/>", count: 9_000) + String(repeating: "</g>", count: 200),
                "its “use” elements stand for more than 10000 elements"
            ),
            (
                (1...151).map { "<use id='a\($0)' href='#a\($0 + 1)'/>" }.joined(),
                "its “use” elements stand for more than 10000 elements"
            ),
            ("<g id='a'><use href='#a'/></g>", "a “use” stands for itself"),
            ("<g id='&#97;'><x:use xmlns:x='a' y:HREF=' #a '/></g>", "a “use” stands for itself"),
            ("<g id='a'><use href='#b'/></g><g id='b'><use xlink:href='#a'/></g>", "a “use” stands for itself"),
            ("<g id='a'/><use href='#%61'/>", "a “use”, or an id, is written with references"),
            ("<g id='&#955;'/><use href='#λ'/>", "a “use”, or an id, is written with references"),
        ])
    func uses(content: String, what: String) {
        #expect(inspector.verdict(on: ImageFile.svg(content)) == .failure(.unsafe(.svg, what: what)))
    }

    /// Uses that stand for 10,000 elements: 9 × 100, and 10 × (10 + 9 × 100).
    private static let tenThousand =
        "<g id='a'>\(String(repeating: "<g/>", count: 99))</g>"
        + "<g id='b'>\(String(repeating: "<use href='#a'/>", count: 9))</g>"
        + String(repeating: "<use href='#b'/>", count: 10)

    @Test(
        "an SVG with references within itself is accepted",
        arguments: [
            "<use href='#a'/>", "<use xlink:href=' #a'/>", "<image href='data:image/png;base64,AAAA'/>",
            "<use href=''/>",
            "<image xlink:href='DATA:image/jpeg;base64,AAAA'/>", "<g fill='url(#a) url( &quot;#b&quot; )'/>",
            "<style>@font-face{src:url(data:font/woff2;base64,AAAA)} a{fill:url('#a')}</style>",
            "<g editor:path='C:\\a' editor:onload='a' rdf:resource='http://a.example/'/>", "<style/><g/>",
            "<title>url(http://a.example) onload=a @import &lt;script&gt;</title>", "<desc>\\</desc>",
            "<animate attributeName='opacity'/>", "<!-- <script> url(a) -->", "<g o='' aria-label='&#955;'/>",
            "<!---->", "<!-- a - > -> b -->", "<style><![CDATA[ .a > .b { fill: red } ]]></style>",
            "<text><![CDATA[a & b]]></text>", "<g id='図 1'/><use href='#図 1'/><use href='#c'/>", "<use href='#'/>",
            tenThousand,
            // Inkscape
            """
            <sodipodi:namedview id="base" pagecolor="#fff"><inkscape:grid type="xygrid"/></sodipodi:namedview>
            <!-- Created with Inkscape (http://www.inkscape.org/) --><metadata id="m"><rdf:RDF>
            <cc:Work rdf:about=""><dc:format>image/svg+xml</dc:format>
            <dc:type rdf:resource="http://purl.org/dc/dcmitype/StillImage"/><dc:title>a</dc:title></cc:Work></rdf:RDF>
            </metadata><flowRoot><flowRegion><rect/></flowRegion><flowPara>a</flowPara></flowRoot>
            <path sodipodi:nodetypes="cc" inkscape:connector-curvature="0" d="m0 0h1"/>
            """,
            // Illustrator
            """
            <!-- Generator: Adobe Illustrator 25.0.1, SVG Export Plug-In . SVG Version: 6.00 Build 0)  -->
            <style type="text/css">.st0{fill:#FFF;}</style><metadata><sfw xmlns="http://ns.adobe.com/SaveForWeb/1.0/">
            <slices></slices><sliceSourceBounds height="8" width="8" x="0" y="0"></sliceSourceBounds></sfw>
            <?xpacket begin="" id="a"?><x:xmpmeta/><?xpacket end="w"?></metadata>
            <switch><g i:extraneous="self"/></switch>
            <i:pgf><![CDATA[ eJzs/Wu ]]></i:pgf>
            """,
            // Sketch and Figma
            """
            <!-- Generator: Sketch 52.5 (67469) - http://www.bohemiancoding.com/sketch --><title>a</title>
            <desc>Created with Sketch.</desc><defs><path id="path-1" d="M0 0"/></defs><g sketch:type="MSPage">
            <mask id="mask-2" fill="white"><use xlink:href="#path-1"/></mask></g>
            <pattern id="p"><use xlink:href="#image0_1_2" transform="scale(.1)"/></pattern>
            <image id="image0_1_2" data-name="a.png" preserveAspectRatio="none" xlink:href="data:image/png;base64,AA"/>
            """,
        ])
    func accepted(content: String) {
        let bytes = ImageFile.svg(content)
        #expect(inspector.verdict(on: bytes) == .success(ImageInfo(type: .svg, width: 8, height: 8)))
    }
}
