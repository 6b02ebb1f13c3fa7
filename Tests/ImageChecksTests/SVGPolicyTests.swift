// SPDX-License-Identifier: Apache-2.0
import ImageChecks
import Testing

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

    @Test("an SVG with a document type is refused, wherever it stands")
    func documentType() {
        let start = "<?xml version='1.0'?><!DOCTYPE svg [<!ENTITY a 'b'>]>"
        let verdict = inspector.verdict(on: Array(start.utf8) + ImageFile.svg("&a;"))
        #expect(verdict == .failure(.unsafe(.svg, what: "it has a document type (DOCTYPE)")))
    }

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
        ])
    func accepted(content: String) {
        let bytes = ImageFile.svg(content)
        #expect(inspector.verdict(on: bytes) == .success(ImageInfo(type: .svg, width: 8, height: 8)))
    }
}
