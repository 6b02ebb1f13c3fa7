// SPDX-License-Identifier: Apache-2.0
import AppLists
import HTTPRules
import ImageChecks
import Testing

@Suite("Codes of failed downloads")
struct FetchFailureCodeTests {
    private static let codes: [FetchFailure.Code] =
        FetchFailure.Cause.allCases.map { .fetch($0) } + ImageRejection.Code.allCases.map { .image($0) }
        + URLRefusal.Code.allCases.map { .url($0) } + [100, 304, 404, 503, 999].map { .http($0) }

    @Test("each failure code is read back from its own text")
    func text() {
        for code in Self.codes { #expect(FetchFailure.Code(rawValue: code.rawValue) == code) }
        #expect(Set(Self.codes.map(\.rawValue)).count == Self.codes.count)
        #expect("\(FetchFailure.Code.http(404)) \(FetchFailure.Code.fetch(.protocolViolation))" == "http-404 protocol")
    }

    @Test(
        "a truncated image is retried soon only if it could have been cut off",
        arguments: [
            (.truncated(.png), .passing), (.truncatedAtSource(.png), .lasting),
            (.damaged(.png, what: "it has no data"), .lasting), (.notAnImage(hint: nil), .lasting),
        ] as [(ImageRejection, FetchFailure.Persistence)])
    func images(rejection: ImageRejection, persistence: FetchFailure.Persistence) {
        #expect(FetchFailure.image(rejection).persistence == persistence)
        #expect(FetchFailure.image(rejection).code == .image(rejection.code))
    }

    @Test(
        "unknown text is no failure code",
        arguments: [
            "", "http", "http-", "http-0", "http-099", "http-99", "http-1000", "http-+404", "http--404", "http-0404",
            "http-404 ", "http-٤٠٤", "http-4o4", "HTTP-404", "Timeout", "timeout\0", "disk-full", "no-such-code",
        ])
    func otherText(text: String) {
        #expect(FetchFailure.Code(rawValue: text) == nil)
    }

    /// All codes but the statuses, by how long their causes are likely to last.
    private static let persistences: [(FetchFailure.Persistence, [String])] = [
        (
            .passing,
            ["connect", "connection-closed", "disk", "dns", "image-truncated", "network-login", "timeout", "tls"]
        ),
        (.forbidden, ["auth-refused"]),
        (
            .lasting,
            [
                "address-refused", "bad-redirect", "content-encoding", "cut-short", "digest-mismatch",
                "downgrade-refused", "image-damaged", "image-too-large", "image-unsafe", "not-an-image", "protocol",
                "redirect-loop", "too-large", "too-many-redirects",
            ]
        ),
        (
            .refused,
            [
                "bad-url", "host-refused", "not-in-repository", "over-limit", "port-refused", "scheme-refused",
                "userinfo-refused",
            ]
        ),
    ]

    @Test("a code says how long its cause is likely to last", arguments: persistences)
    func persistence(persistence: FetchFailure.Persistence, codes: [String]) {
        for text in codes { #expect(FetchFailure.Code(rawValue: text)?.persistence == persistence, "\(text)") }
    }

    @Test("the table of persistences has each code once")
    func completeness() {
        let all = Self.codes.map(\.rawValue).filter { !$0.hasPrefix("http-") }
        #expect(Self.persistences.flatMap(\.1).sorted() == all.sorted())
    }

    @Test("a code says whether it is no answer, and by what its failure may end")
    func traits() {
        let noAnswer = ["connect", "connection-closed", "dns", "protocol", "timeout", "tls"]
        let traits: [(name: String, has: (FetchFailure.Code) -> Bool, codes: [String])] = [
            ("no answer", \.isNoAnswer, noAnswer),
            (
                "login", \.mayBeLogin,
                [
                    "address-refused", "bad-redirect", "bad-url", "content-encoding", "cut-short", "downgrade-refused",
                    "host-refused", "http-511", "not-an-image", "port-refused", "redirect-loop", "scheme-refused",
                    "too-many-redirects", "userinfo-refused",
                ]
            ),
            (
                "settings", \.dependsOnSettings,
                [
                    "address-refused", "auth-refused", "downgrade-refused", "host-refused", "http-401", "http-407",
                    "image-too-large", "not-an-image", "not-in-repository", "over-limit", "port-refused",
                    "scheme-refused", "tls", "too-large", "too-many-redirects", "userinfo-refused",
                ]
            ),
            ("length", \.dependsOnLength, ["image-truncated"]), ("clock", \.dependsOnClock, ["tls"]),
            ("requests", { $0.dependsOnRequests(haveOtherSender: false) }, noAnswer),
            ("sender", { $0.dependsOnRequests(haveOtherSender: true) }, noAnswer + ["http-403", "http-406"]),
        ]
        let statuses = (100...999).map { FetchFailure.Code.http($0) }
        let codes = Self.codes.filter { !statuses.contains($0) } + statuses
        for trait in traits {
            #expect(Set(codes.filter(trait.has).map(\.rawValue)) == Set(trait.codes), "\(trait.name)")
        }
    }
}
