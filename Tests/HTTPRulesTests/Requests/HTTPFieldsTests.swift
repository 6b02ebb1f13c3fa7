import HTTPRules
// SPDX-License-Identifier: Apache-2.0
import Testing

@Suite("Header fields")
struct HTTPFieldsTests {
    @Test("names of header fields are in lower case, and values without white space around them")
    func lookUp() {
        let fields = HTTPFields([("ETag", " \"a: b\"\t"), ("X-A", "1"), ("x-a", ""), ("X-a", "2, 3")])
        #expect(fields["etag"] == ["\"a: b\""])
        #expect(fields["x-a"] == ["1", "", "2, 3"])
        #expect(fields.joined("x-a") == "1, , 2, 3")
        #expect(fields["x"].isEmpty && fields.joined("x") == nil)
    }

    @Test("header fields are read back from their text")
    func text() {
        let fields = HTTPFields([("ETag", "\"é\""), ("Empty", ""), ("Colon", "a:b: c")])
        #expect(fields.text == "etag: \"é\"\nempty: \ncolon: a:b: c\n")
        #expect(HTTPFields(text: fields.text) == fields)
        #expect(HTTPFields(text: "") == HTTPFields())
        #expect(HTTPFields(text: "A:1\nno colon\n: no name\n b: 2\r\n\nC: 3").text == "a: 1\nc: 3\n")
    }

    @Test(
        "lines that are no header field are left out",
        arguments: [
            ("", "v"), ("a b", "v"), ("a:b", "v"), ("ä", "v"), ("a", "1\n2"), ("a", "1\r\nb: 2"), ("a", "\u{0}"),
            ("a", "\u{7F}"), ("a\n", "v"),
        ])
    func others(name: String, value: String) {
        #expect(HTTPFields([(name, value)]) == HTTPFields())
    }
}
