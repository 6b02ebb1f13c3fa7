// SPDX-License-Identifier: Apache-2.0
import Testing

/// The results of all cases.
private struct CacheTestScore {
    private var failures: [String: String] = [:]
    private let tests: [CacheTestCase]

    init(_ tests: [CacheTestCase], stores: Bool = true) {
        self.tests = tests
        for test in tests {
            do throws(CacheTestRun.Failure) {
                try CacheTestRun.run(test, stores: stores)
            } catch {
                failures[test.id] = "\(error)"
            }
        }
    }

    /// Fails the cases that build on failed ones, because nothing is shown by them.
    mutating func failDependents() {
        var isSettled = false
        while !isSettled {
            isSettled = true
            for test in tests where failures[test.id] == nil {
                guard let missing = test.dependsOn?.first(where: { failures[$0] != nil }) else { continue }
                failures[test.id] = "it depends on \(missing)"
                isSettled = false
            }
        }
    }

    func total(_ kind: CacheTestCase.Kind) -> Int { tests(kind).count }

    func passed(_ kind: CacheTestCase.Kind) -> Int { tests(kind).count { failures[$0.id] == nil } }

    private func tests(_ kind: CacheTestCase.Kind) -> [CacheTestCase] {
        tests.filter { ($0.kind ?? .required) == kind }
    }

    var table: String {
        CacheTestCase.Kind.allCases.map { kind in
            "\(kind.rawValue): \(passed(kind)) of \(total(kind))\n"
                + tests(kind).compactMap { test in failures[test.id].map { "    \(test.id): \($0)\n" } }.joined()
        }.joined()
    }
}

@Suite(
    "HTTP cache tests",
    .enabled(if: CacheTestCorpus.isPresent, "shared/corpora/http/cache-tests is not beside the checkout"))
struct CacheTestsTests {
    /// What a private GET cache must do, and what a good one does.
    private static let demanded = (try? CacheTestCorpus.core().filter { $0.kind != .check }) ?? []

    @Test("the cache does what the case demands", arguments: demanded)
    func demand(test: CacheTestCase) {
        #expect(throws: Never.self) { try CacheTestRun.run(test) }
    }

    @Test("no browser does better")
    func score() throws {
        var score = CacheTestScore(try CacheTestCorpus.core())
        score.failDependents()
        print("HTTP cache tests, tier core\n\(score.table)", terminator: "")
        #expect(score.total(.required) == 84 && score.total(.optimal) == 50 && score.total(.check) == 56)
        #expect(score.passed(.required) == 84)
        #expect(score.passed(.optimal) >= 45)
    }

    /// The published score of no cache at all is 55 and 0.
    ///
    /// It lacks two cases that only browsers are asked, and two in which a client without a cache sees the connection
    /// break, where this one answers 504.
    @Test("a cache that stores nothing gets the published score of one")
    func nothing() throws {
        let score = CacheTestScore(try CacheTestCorpus.core(), stores: false)
        #expect(score.passed(.required) == 55 + 2 + 2, "\(score.table)")
        #expect(score.passed(.optimal) == 0, "\(score.table)")
    }
}
