// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import ListParse
import Testing

@Suite("Faults of XML property lists")
struct XMLFaultTests {
    @Test(
        "the fault of an XML property list is reported with its line",
        arguments: [
            ("<array>\n<strin>x</strin>\n</array>", "line 3: <strin> is not an element of property lists"),
            ("<array>\n<string>x</array>", "line 3: </array>, but <string> of line 3 is not closed"),
            ("<array>\n<string>x\n<string>y</string>", "line 4: <string> within <string> of line 3"),
            ("<array>\n\n<string>x</string>\n", "line 5: end of file, but <array> of line 2 is not closed"),
            ("<array>\n<string>", "line 3: end of file, but <string> of line 3 is not closed"),
            (
                "<array>\n<string>a?b=c&d</string></array>",
                "line 3: “&” does not begin a known reference: write “&amp;”"
            ),
            (
                "<array>\n<string>a&b\n\n\n</string></array>",
                "line 3: “&” does not begin a known reference: write “&amp;”"
            ),
            ("<array>\nx\n\n\n</array>", "line 3: text outside of an element"),
            ("<array><string>&nbsp;</string></array>", "line 2: “&” does not begin a known reference: write “&amp;”"),
            ("<dict><string>x</string></dict>", "line 2: <string> without a <key> before it"),
            ("<dict>\n<key>a</key>\n<key>b</key></dict>", "line 4: <key>, but the key before it has no value"),
            ("<dict>\n<key>a</key>\n</dict>", "line 4: </dict>, but the last key has no value"),
            ("<array>\n\nhttp://e.org</array>", "line 4: text outside of an element"),
            ("<array>\n<!-- </array>", "line 3: “<!--” without “-->”"),
            ("<array>\n<string><![CDATA[ </string></array>", "line 3: “<![CDATA[” without “]]>”"),
            ("<array><string", "line 2: a tag without “>”"),
            ("</array>", "line 2: </array>, but <plist> of line 1 is not closed"),
        ])
    func fault(body: String, detail: String) {
        let text = "<plist version=\"1.0\">\n\(body)\(body.hasSuffix("</array>") ? "</plist>" : "")"
        #expect(ListParser().parse(text) == .failure(.notAPropertyList(detail)))
    }

    @Test(
        "a fault around an XML property list is reported with its line",
        arguments: [
            ("<html>\n<body>404</body></html>", "line 1: <html> is not an element of property lists"),
            ("<?xml version=\"1.0\"", "line 1: “<?” without “?>”"),
            (
                "<!DOCTYPE plist [\n<!ENTITY a \"b\">\n]><plist><array><string>&a;</string></array></plist>",
                "line 2: declarations in <!DOCTYPE> are not supported"
            ),
            ("\u{FEFF}\n<plist>\n<x/></plist>", "line 3: <x> is not an element of property lists"),
        ])
    func around(text: String, detail: String) {
        #expect(ListParser().parse(text) == .failure(.notAPropertyList(detail)))
    }

    @Test("an unusual fault of an XML property list is reported in the words of the parser")
    func other() {
        #expect(ListParser().parse("<plist></plist>") == .failure(.notAPropertyList("encountered empty <plist>")))
        let verdict = ListParser().parse("<plist><array><true>x</true></array></plist>")
        let words = "encountered unexpected character x while looking for close tag for true"
        #expect(verdict == .failure(.notAPropertyList(words)))
    }

    @Test("a readable XML property list has no fault, however odd it is")
    func none() throws {
        let text = """
            \u{FEFF}<?xml version="1.0"?><!-- <x> --><!DOCTYPE plist PUBLIC "a" "b">
            <plist version="1.0"><dict><key>&lt;&#65;</key><true/>
            <key>apps</key><array ><string><![CDATA[http://e.org/&<]]>&#x41;</string ></array></dict></plist>
            """
        #expect(try ListParser().parse(text).get().entries == [AppEntry(icon: "http://e.org/&<A")])
    }
}
