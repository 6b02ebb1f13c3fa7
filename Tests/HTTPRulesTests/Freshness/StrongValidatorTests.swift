// SPDX-License-Identifier: Apache-2.0
import HTTPRules
import Testing

@Suite("Strong validators")
struct StrongValidatorTests {
    private static let date = ("Date", Sample.date(0))
    private static func modified(_ seconds: Int) -> (String, String) { ("Last-Modified", Sample.date(seconds)) }

    @Test(
        "a strong validator is a strong tag, or a date a minute before Date without a tag",
        arguments: [
            ([("ETag", "\"a\"")], "\"a\""), ([("ETag", "\"\"")], nil), ([("ETag", "\"\""), date, modified(-60)], nil),
            ([("ETag", "\"a\""), date, modified(-60)], "\"a\""), ([("ETag", "W/\"a\"")], nil), ([("ETag", "a")], nil),
            ([("ETag", "W/\"a\""), date, modified(-60)], nil), ([("ETag", ""), date, modified(-60)], nil),
            ([date, modified(-60)], Sample.date(-60)), ([date, modified(-86_400)], Sample.date(-86_400)),
            ([date, modified(-59)], nil), ([date, modified(-1)], nil), ([date, modified(0)], nil),
            ([date, modified(60)], nil), ([modified(-86_400)], nil), ([("Date", "x"), modified(-86_400)], nil),
            ([date, ("Last-Modified", "x")], nil), ([date], nil), ([], nil),
        ] as [([(name: String, value: String)], String?)])
    func strength(fields: [(name: String, value: String)], validator: String?) {
        #expect(Sample.response(fields).strongValidator == validator)
    }

    @Test(
        "a part is of the same image if it has the tag, and the same validators, to the byte",
        arguments: [
            ([], false), ([("ETag", "\"é\"")], true), ([modified(-60)], false),
            ([("ETag", "\"é\""), modified(-60)], true), ([("ETag", "")], false),
            ([("ETag", "\"é\""), ("ETag", "\"b\"")], false), ([("ETag", "\"é\""), ("ETag", "\"é\"")], false),
            ([("ETag", "\"é\", \"b\"")], false), ([("ETag", "\"é\""), modified(-60), modified(-61)], false),
            ([("ETag", "\"e\u{301}\"")], false), ([("ETag", "W/\"é\"")], false), ([modified(-61)], false),
            ([("ETag", "\"é\""), modified(-61)], false), ([("ETag", "\"b\""), modified(-60)], false),
        ] as [([(name: String, value: String)], Bool)])
    func parts(fields: [(name: String, value: String)], isSame: Bool) {
        let whole = Sample.response([("ETag", "\"é\""), Self.modified(-60)])
        #expect(whole.isOfSameImage(as: HTTPFields(fields)) == isSame)
    }

    @Test(
        "a part of an image without a tag must have its date, and no tag",
        arguments: [
            ([modified(-60)], true), ([date, modified(-60)], true), ([], false), ([modified(-61)], false),
            ([("ETag", "\"a\"")], false), ([("ETag", "\"a\""), modified(-60)], false),
            ([modified(-60), modified(-61)], false),
        ] as [([(name: String, value: String)], Bool)])
    func partsByDate(fields: [(name: String, value: String)], isSame: Bool) {
        let whole = Sample.response([Self.date, Self.modified(-60)])
        #expect(whole.isOfSameImage(as: HTTPFields(fields)) == isSame)
    }
}
