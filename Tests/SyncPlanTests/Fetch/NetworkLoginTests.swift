// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import ImageChecks
import Testing

@testable import HTTPRules
@testable import SyncPlan

@Suite("The login page of a network")
struct NetworkLoginTests {
    /// An answer after so many seconds: `p` or `q` is a page, `>` a redirect, `?` no answer, `!` anything else.
    ///
    /// `=` is an icon that failed so before, `2` another icon of the origin.
    private struct Step {
        var time: Int
        var origin: String
        var answer: NetworkLogin.Answer
        var isRepeated: Bool
        var icon: IconURL

        init(_ time: Int, _ origin: String, _ marks: String) {
            (self.time, self.origin, isRepeated) = (time, origin, marks.utf8.contains(UInt8(ascii: "=")))
            let isOther = marks.utf8.contains(UInt8(ascii: "2"))
            icon = IconURL("http://\(origin)/\(isOther ? 2 : 1)")
            switch marks.filter({ $0 != "2" && $0 != "=" }) {
            case "?": answer = .none
            case "!": answer = .genuine
            case let pages:
                let signs = pages.utf8.map { mark -> NetworkLogin.Sign in
                    mark == UInt8(ascii: ">") ? .redirect(origin: "l") : .page(.of([mark]))
                }
                answer = .page(Set(signs))
            }
        }
    }

    private static let steps: [([(Int, String, String)], Bool)] = [
        ([], false), ([(0, "a", "p")], false), ([(0, "a", "p"), (1, "a", "p"), (2, "a", "p")], false),
        ([(0, "a", "p"), (1, "b", "p")], true), ([(0, "a", ">"), (1, "b", ">")], true),
        // The page has the URL in it, or the redirect has another host.
        ([(0, "a", "p>"), (1, "b", "q>")], true), ([(0, "a", "p>"), (1, "b", "p")], true),
        ([(0, "a", "p"), (1, "b", "q")], false), ([(0, "a", "p"), (1, "b", ">")], false),
        // Servers of one owner.
        ([(0, "http://h:80", "p"), (1, "https://h:443", "p")], false),
        ([(0, "http://www.x.example:80", "p"), (1, "http://static.x.example:80", "p")], false),
        // Whoever answers otherwise is a server, and there is no login in its place.
        ([(0, "a", "p"), (1, "b", "q"), (2, "c", "q")], false), ([(0, "a", "p"), (1, "a", "q"), (2, "b", "q")], false),
        ([(0, "a", "p"), (1, "c", "!"), (2, "b", "p")], false), ([(0, "c", "!"), (1, "a", "p"), (2, "b", "p")], false),
        ([(0, "a", "p"), (1, "b", "p"), (2, "c", "!")], false),
        ([(0, "a", "!"), (60, "a", "p"), (61, "b", "p")], true),
        // Those that do not answer tell nothing.
        ([(0, "a", "p"), (1, "c", "?"), (2, "b", "p")], true),
        // Within a minute.
        ([(0, "a", "p"), (60, "b", "p")], true), ([(0, "a", "p"), (61, "b", "p")], false),
        ([(0, "a", "p"), (61, "b", "p"), (62, "a", "p")], true),
    ]

    /// Pages that servers have for other reasons.
    private static let others: [([(Int, String, String)], Bool)] = [
        // No server of these has ever answered, and others have.
        ([(0, "c", "!"), (60, "a", "p"), (61, "b", "p")], false),
        ([(0, "c", "!"), (60, "a", "p"), (61, "b", "p"), (62, "c", "p")], true),
        // The icons failed so before; they may say that there is no login.
        ([(0, "a", "p="), (1, "b", "p=")], false), ([(0, "a", "p="), (1, "b", "p")], false),
        ([(0, "a", "p"), (1, "b", "p=")], false), ([(0, "a", "p"), (1, "b", "p="), (2, "c", "p")], true),
        ([(0, "a", "p"), (1, "b", "q="), (2, "c", "p")], false),
        // The page came beside an answer, within the last day; another one may be a login.
        ([(0, "a", "p"), (1, "a", "!2"), (100, "a", "p"), (101, "b", "p")], false),
        ([(0, "a", "!2"), (59, "a", "p"), (100, "a", "!2"), (200, "a", "p"), (201, "b", "p")], false),
        ([(0, "a", "!"), (59, "a", "p"), (200, "a", "p"), (201, "b", "p")], false),
        ([(0, "a", "!"), (59, "a", "p="), (200, "a", "p"), (201, "b", "p")], false),
        ([(0, "a", "!"), (59, "a", "p"), (86_459, "a", "p"), (86_460, "b", "p")], true),
        ([(0, "a", "p"), (60, "a", "!"), (120, "a", "p"), (121, "b", "p")], true),
        ([(0, "a", "!"), (59, "a", "p"), (200, "a", "q"), (201, "b", "q")], true),
        ([(0, "a", "!"), (59, "a", "p"), (200, "a", "p>"), (201, "b", "p>")], true),
        ([(0, "a", "!"), (59, "a", "p"), (200, "a", "p>"), (201, "b", "p")], false),
    ]

    private static let login: [(Int, String, String)] = [(0, "a", "p"), (1, "b", "p")]

    /// What comes after the suspicion.
    private static let ends: [([(Int, String, String)], Bool)] = [
        // For an hour, and not again unless something else comes first.
        ([(0, "a", "p"), (1, "b", "p"), (3600, "a", "p")], true),
        ([(0, "a", "p"), (1, "b", "p"), (3601, "a", "p"), (3602, "b", "p")], false),
        // Another page is an answer, the same redirect is not.
        ([(0, "a", "p"), (1, "b", "p"), (2, "c", "q")], false),
        ([(0, "a", "p>"), (1, "b", "p>"), (2, "c", "q>")], true),
        ([(0, "a", "p"), (1, "b", "p"), (2, "a", "q="), (62, "a", "p"), (63, "b", "p")], false),
        // After a login the next one may come at any time.
        ([(0, "a", "p"), (1, "b", "p"), (2, "a", "!"), (62, "a", "p"), (63, "b", "p")], true),
        ([(0, "a", "p"), (1, "b", "p"), (2, "c", "p"), (3, "c", "!"), (63, "c", "p"), (64, "b", "p")], true),
        // It may be noticed late, and pages that were under way come after it.
        ([(0, "a", "p"), (1, "b", "p"), (2, "c", "!"), (3, "b", "!"), (63, "a", "p"), (64, "b", "p")], true),
        (login + [(2, "c", "!"), (3, "a", "p2"), (4, "a", "!2"), (64, "a", "p"), (65, "b", "p")], true),
        (login + [(2, "b", "!"), (3, "a", "p"), (4, "a", "!"), (64, "a", "p"), (65, "b", "p")], true),
        ([(0, "a", "!2"), (59, "a", "p"), (100, "a", "!"), (200, "a", "p"), (201, "b", "p")], true),
        ([(0, "a", "p"), (1, "a", "!"), (100, "a", "p"), (101, "b", "p")], true),
        // The icons whose page it was have not answered.
        ([(0, "a", "p"), (1, "b", "p"), (2, "a", "!2"), (62, "a", "p"), (63, "b", "p")], false),
        ([(0, "a", "p"), (1, "b", "p"), (2, "c", "!"), (62, "c", "p"), (63, "b", "p")], false),
        ([(0, "a", "p"), (1, "b", "p"), (2, "c", "!"), (86_401, "c", "p"), (86_402, "b", "p")], true),
        ([(0, "a", "p"), (1, "b", "p"), (2, "c", "!"), (62, "c", "q"), (63, "b", "q")], true),
    ]

    @Test(
        "a NetworkLogin is suspected if servers of two owners answer alike within a minute, and nothing else does",
        arguments: steps + others + ends)
    func suspected(steps: [(Int, String, String)], isSuspected: Bool) {
        var login = NetworkLogin()
        var now = Sample.start
        for step in steps.map({ Step($0.0, $0.1, $0.2) }) {
            now = Sample.start + .seconds(step.time)
            _ = login.record(
                step.answer, of: step.icon, from: step.origin, isRepeated: step.isRepeated, at: now)
        }
        #expect(login.isSuspected(at: now) == isSuspected)
    }

    @Test("a NetworkLogin keeps the last 64 pages that came beside an answer")
    func bounded() {
        func isSuspected(page: Int) -> Bool {
            var login = NetworkLogin()
            _ = login.record(.genuine, of: "http://a/1", from: "a", at: Sample.start)
            for number in 0..<65 {
                _ = login.record(Self.page(number), of: "http://a/1", from: "a", at: Sample.start + .seconds(1))
            }
            for (second, origin) in [(100, "a"), (101, "b")] {
                _ = login.record(Self.page(page), of: "http://a/1", from: origin, at: Sample.start + .seconds(second))
            }
            return login.isSuspected(at: Sample.start + .seconds(101))
        }
        #expect(isSuspected(page: 0) && !isSuspected(page: 1) && !isSuspected(page: 64))
    }

    private static func page(_ number: Int) -> NetworkLogin.Answer { .page([.page(.of([UInt8(number)]))]) }

    @Test(
        "the owner of an origin has the last two labels of its name, and no name is an owner for each port",
        arguments: [
            ("http://h:80", "h"), ("https://h:443", "h"), ("http://x.example:80", "x.example"),
            ("https://static.x.example:8443", "x.example"), ("http://a.b.c.x.example:80", "x.example"),
            ("http://127.0.0.1:8001", "127.0.0.1:8001"), ("http://[::1]:80", "[::1]:80"), ("http://::1:80", "::1:80"),
            ("http://fe80::a:80", "fe80::a:80"), ("http://localhost:80", "localhost:80"), ("a", "a"), ("", ""),
        ])
    func owners(origin: String, owner: String) {
        #expect(NetworkLogin.owner(of: origin) == owner)
    }

    @Test("a NetworkLogin that becomes suspected names the icons whose pages came before")
    func earlier() {
        var login = NetworkLogin()
        let page = NetworkLogin.Answer.page([.redirect(origin: "l")])
        #expect(login.record(page, of: "http://a/1", from: "a", at: Sample.start).isEmpty)
        #expect(login.record(page, of: "http://a/2", from: "a", at: Sample.start).isEmpty)
        #expect(login.record(page, of: "http://b/1", from: "b", at: Sample.start) == ["http://a/1", "http://a/2"])
        #expect(login.record(page, of: "http://b/2", from: "b", at: Sample.start).isEmpty)
    }

    @Test("a NetworkLogin has few icons requested each minute, one of an origin, and then names all that waited")
    func probes() {
        var login = NetworkLogin()
        var generator = SeededGenerator(seed: 1)
        let origins = ["a", "b", "c", "d", "e"]
        for origin in origins {
            _ = login.record(Self.page(1), of: IconURL("http://\(origin)/1"), from: origin, at: Sample.start)
        }
        let now = Sample.start + .seconds(600)
        func delay(_ icon: IconURL, _ origin: String) -> Duration {
            login.delay(of: icon, from: origin, at: now, using: &generator)
        }
        for _ in 0..<2 {
            for origin in origins {
                for number in 1...2 {
                    let icon = IconURL("http://\(origin)/\(number)")
                    let isProbe = number == 1 && origin != "e"
                    let range: ClosedRange<Duration> =
                        isProbe ? .seconds(48) ... .seconds(72) : .seconds(3060) ... .seconds(3600)
                    let time = delay(icon, origin)
                    #expect(range.contains(time) && login.isWaiting(icon) == !isProbe)
                }
            }
        }
        let released = login.record(.genuine, of: "http://f/1", from: "f", at: now)
        #expect(released == origins.flatMap { [IconURL("http://\($0)/1"), IconURL("http://\($0)/2")] })
        #expect(!login.isWaiting("http://e/2"))
        #expect(login.record(.genuine, of: "http://f/1", from: "f", at: now).isEmpty)
    }

    @Test("a NetworkLogin gives the places of icons that leave to those that wait, within the hour")
    func replaced() {
        var login = NetworkLogin()
        var generator = SeededGenerator(seed: 1)
        let origins = ["a", "b", "c", "d", "e"]
        for origin in origins {
            _ = login.record(Self.page(1), of: IconURL("http://\(origin)/1"), from: origin, at: Sample.start)
        }
        #expect(login.mayHoldIcons)
        for number in 1...3 {
            for origin in origins {
                let icon = IconURL("http://\(origin)/\(number)")
                _ = login.delay(of: icon, from: origin, at: Sample.start, using: &generator)
            }
        }
        let now = Sample.start + .seconds(600)
        #expect(login.replaceProbes(at: now).isEmpty)
        // An icon that waits has no place.
        login.leave("http://a/2")
        #expect(!login.isWaiting("http://a/2") && login.replaceProbes(at: now).isEmpty)
        login.leave("http://a/1")
        #expect(login.replaceProbes(at: now) == ["http://a/3"])
        #expect(!login.isWaiting("http://a/3") && login.replaceProbes(at: now).isEmpty)
        for icon: IconURL in ["http://a/3", "http://b/1", "http://none/1"] { login.leave(icon) }
        #expect(login.replaceProbes(at: now) == ["http://b/2", "http://e/1"])
        // After the hour, icons are retried anyway.
        login.leave("http://b/2")
        #expect(login.replaceProbes(at: Sample.start + .seconds(3600)).isEmpty)
        login.leave("http://e/2")
        let released = login.record(.genuine, of: "http://a/1", from: "a", at: now)
        #expect(Set(released).isDisjoint(with: ["http://a/3", "http://b/1", "http://b/2", "http://e/2"]))
        #expect(released.count == 9 && !login.mayHoldIcons)
    }

    @Test(
        "a NetworkLogin counts pages, redirects and refused addresses, and failures to answer tell it nothing",
        arguments: [
            (.failed(.status(404)), .genuine), (.failed(.status(403)), .genuine), (.failed(.status(503)), .none),
            (.failed(.status(511)), .page([.status])), (.failed(FetchFailure(.tls, "x")), .none),
            (.failed(FetchFailure(.dns, "x")), .none), (.failed(FetchFailure(.addressRefused, "x")), .none),
            (.failed(.image(.notAnImage(hint: nil))), .none), (.failed(.image(.truncated(.png))), .genuine),
            (.failed(page(.image(.notAnImage(hint: "HTML")), .of([1]), nil)), .page([.page(.of([1]))])),
            (
                .failed(page(FetchFailure(.addressRefused, "x"), nil, "http://l:80")),
                .page([.redirect(origin: "http://l:80")])
            ),
            (.failed(page(FetchFailure(.addressRefused, "x"), address: "10.0.0.1")), .page([.address("10.0.0.1")])),
            // The login page is somewhere else, or comes in a way that no image does.
            (.failed(failure(.status(403), at: "l")), .page([.redirect(origin: "l")])),
            (.failed(failure(.status(404), at: "l")), .page([.redirect(origin: "l")])),
            (.failed(failure(.status(503), at: "l")), .none),
            (.failed(failure(.encoded("gzip"), at: "l")), .page([.redirect(origin: "l")])),
            (.failed(.encoded("gzip")), .none), (.failed(FetchFailure(.redirectLoop, "x")), .none),
            (.failed(FetchFailure(.cutShort, "x")), .none),
            (.failed(FetchFailure(.tooManyRedirects, "x")), .none),
            (.failed(FetchFailure(.downgradeRefused, "x")), .none), (.failed(FetchFailure(.badRedirect, "x")), .none),
            (.failed(FetchFailure(.url(.portRefused), "x", .lasting)), .none), (.cancelled, .none),
        ] as [(FetchOutcome, NetworkLogin.Answer)])
    func answers(outcome: FetchOutcome, answer: NetworkLogin.Answer) {
        #expect(NetworkLogin.Answer(outcome) == answer)
    }

    private static func page(
        _ failure: FetchFailure, _ body: Digest? = nil, _ origin: String? = nil, address: String? = nil
    ) -> FetchFailure {
        var failure = failure
        failure.page = FetchFailure.Page(body: body, origin: origin, address: address)
        return failure
    }

    private static func failure(_ failure: FetchFailure, at origin: String) -> FetchFailure {
        var failure = failure
        failure.origin = origin
        return failure
    }
}
