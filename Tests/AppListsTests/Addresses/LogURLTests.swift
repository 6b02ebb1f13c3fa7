// SPDX-License-Identifier: Apache-2.0
import AppLists
import Testing

@Suite("URLs as logs show them")
struct LogURLTests {
    @Test(
        "a URL in a log has no user name, password, query or image",
        arguments: [
            ("https://a.example/i.png", "https://a.example/i.png"),
            ("https://a.example:8443/@x/i.png", "https://a.example:8443/@x/i.png"),
            ("https://a.example/i.png?key=SECRET", "https://a.example/i.png?…"),
            ("https://a.example/i.png?mail=x@y.example/SECRET", "https://a.example/i.png?…"),
            ("https://a.example?SECRET", "https://a.example?…"),
            ("https://a.example/i.png#SECRET", "https://a.example/i.png"),
            ("https://u:SECRET@a.example/i.png?SECRET", "https://…@a.example/i.png?…"),
            ("https://SECRET@a.example", "https://…@a.example"), ("ftp://SECRET:@a.example/i", "ftp://…@a.example/i"),
            ("https://u:SEC/RET@a.example/i", "…"),
            ("https://u:SEC?RET@a.example/i", "…"), ("https://u:SEC#RET@a.example/i", "…"), ("SECRET@a.example", "…"),
            // What combines with a mark does not hide it.
            ("https://a.example/i.png?\u{301}SECRET", "https://a.example/i.png?…"),
            ("https://u:SECRET@\u{301}a.example/i.png", "https://…@\u{301}a.example/i.png"),
            ("https:\u{301}//u:SECRET@a.example/", "…"), ("https://u:SEC/\u{301}RET@a.example/i", "…"),
            ("https://a.example/#\u{301}SECRET", "https://a.example/"),
            ("data:image/png,\u{301}SECRET", "data:image/png,… (23 bytes)"),
            ("data:image/png;base64,SECRET", "data:image/png;base64,… (28 bytes)"), ("data:", "data:,… (5 bytes)"),
            ("", ""), ("icon", "icon"),
        ])
    func show(url: String, expected: String) {
        #expect(LogURL(url).description == expected)
    }
}
