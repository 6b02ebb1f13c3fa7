import HTTPRules
import SyncPlan
import Testing

// SPDX-License-Identifier: Apache-2.0

@Suite("Cache-Control")
struct CacheControlTests {
    private static let hour = CacheControl.MaxAge.duration(.seconds(3600))

    @Test(
        "max-age is a whole number of seconds, as a token or in quotes",
        arguments: [
            ("max-age=3600", hour), ("MaX-aGe=3600", hour), ("max-age=\"3600\"", hour), ("max-age=003600", hour),
            ("max-age=\"36\\00\"", hour), (" , max-age=3600 ,, ", hour), ("max-age=3600\t", hour),
            ("foobar, max-age=3600", hour), ("a=b;c, max-age=3600", hour), ("s-maxage=1, max-age=3600", hour),
            ("max-age=0", .duration(.zero)), ("max-age=2147483648", .duration(.seconds(1 << 31))),
            ("max-age=99999999999", .duration(.seconds(1 << 31))),
            ("max-age=\(String(repeating: "9", count: 400))", .duration(.seconds(1 << 31))),
            ("", .unsaid), ("no-cache", .unsaid), ("s-maxage=3600", .unsaid), ("xmax-age=3600", .unsaid),
            ("max-age", .malformed), ("max-age=", .malformed), ("max-age=\"\"", .malformed),
            ("max-age=-3600", .malformed), ("max-age=+3600", .malformed), ("max-age=3600.0", .malformed),
            ("max-age=a3600", .malformed), ("max-age=3600a", .malformed), ("max-age='3600'", .malformed),
            ("max-age =3600", .malformed), ("max-age= 3600", .malformed), ("max-age=36 00", .malformed),
            ("max-age=\"3600\"x", .malformed), ("max-age=3600;x", .malformed), ("max-age=٣", .malformed),
        ] as [(String, CacheControl.MaxAge)])
    func maxAge(value: String, maxAge: CacheControl.MaxAge) {
        #expect(CacheControl(value).maxAge == maxAge)
    }

    @Test(
        "the first of two equal Cache-Control directives counts, good or bad",
        arguments: [
            ("max-age=3600, max-age=1", hour), ("max-age=1, max-age=3600", .duration(.seconds(1))),
            ("max-age=x, max-age=3600", .malformed), ("max-age=3600, max-age=x", hour),
        ] as [(String, CacheControl.MaxAge)])
    func twice(value: String, maxAge: CacheControl.MaxAge) {
        #expect(CacheControl(value).maxAge == maxAge)
    }

    @Test(
        "quoted text in Cache-Control is no directive",
        arguments: [
            "extension=\"max-age=3600\", max-age=1", "max-age=1, extension=\"max-age=3600\"",
            "extension=\"a, max-age=3600, no-store\", max-age=1", "extension=\"\\\", no-store\", max-age=1",
        ])
    func quoted(value: String) {
        #expect(CacheControl(value).maxAge == .duration(.seconds(1)))
        #expect(CacheControl(value).flags.isEmpty)
    }

    @Test(
        "a Cache-Control flag is read in any case of letters and with any argument",
        arguments: [
            ("no-store", [.noStore]), ("nO-StOrE", [.noStore]), ("no-store=0", [.noStore]),
            ("no-store =x", [.noStore]), ("max-age=1,must-understand", [.mustUnderstand]),
            ("public, no-store", [.public, .noStore]), ("public=\"set-cookie\"", [.public]),
            ("no-store,must-understand", [.noStore, .mustUnderstand]), ("immutable", []),
            ("no-cache", [.noCache]), ("no-cache=\"\"", [.noCache]), ("no-cache=", [.noCache]),
            ("no-cache=\"set-cookie\"", []), ("no-cache=set-cookie", []),
            ("no-cache=\"set-cookie\", no-cache", [.noCache]), ("no-cach", []), ("nocache", []),
            ("proxy-revalidate", []), ("ext=\"never closed, max-age=3600", [.noCache]),
        ] as [(String, CacheControl.Flags)])
    func flags(value: String, flags: CacheControl.Flags) {
        #expect(CacheControl(value).flags == flags)
    }

    @Test("random Cache-Control fields do not trap")
    func random() {
        var generator = SeededGenerator(seed: 2)
        let pieces = ["max-age", "no-cache", "=", "\"", "\\", ",", " ", "0", "99999999999999999999", "é", "\u{0}"]
        for _ in 0..<5000 {
            let count = Int.random(in: 0...8, using: &generator)
            let value = (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            if case .duration(let age) = CacheControl(value).maxAge {
                #expect(age >= .zero && age <= .seconds(1 << 31))
            }
        }
    }
}
