// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import NIOHTTP1
import SystemPackage
import TestSupport

@testable import SyncAgentCLI

/// The metrics of a running agent, as it exposes them.
struct Scrape {
    let text: String

    init(text: String) {
        self.text = text
    }

    /// Asks the agent of a world over its control socket.
    init(of world: World) async throws {
        let socket = world.folder.appending("control.sock").string
        text = try await LocalConnection.open(to: .socket(socket)) { connection in
            _ = try await connection.ask(.GET, "/v1/metrics")
            return String(decoding: try await connection.rest(upTo: 1 << 20), as: UTF8.self)
        }
    }

    /// Each series with its value, as the text has them.
    var series: [(name: String, value: String)] {
        text.split(separator: "\n").compactMap { line in
            guard !line.hasPrefix("#"), let space = line.lastIndex(of: " ") else { return nil }
            return (String(line[..<space]), String(line[line.index(after: space)...]))
        }
    }

    /// The value of a series; `nil` if there is none.
    subscript(series: String) -> Double? {
        self.series.first { $0.name == series }.flatMap { Double($0.value) }
    }

    /// What a kind of comment says of each metric.
    func comments(_ kind: String) -> [String: String] {
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("# \(kind) ") }
        return Dictionary(
            lines.map { line in
                let parts = line.split(separator: " ", maxSplits: 3).map(String.init)
                return (parts[2], parts.count > 3 ? parts[3] : "")
            }
        ) { a, _ in a }
    }

    /// The values that each label of each metric has; `le` excepted.
    var labels: [String: [String: Set<String>]] {
        let types = comments("TYPE")
        var labels: [String: [String: Set<String>]] = [:]
        for (name, _) in series {
            guard let match = name.wholeMatch(of: /([a-z_]+?)(_bucket|_sum|_count)?(\{(.*)\})?/) else { continue }
            let isPart = types[String(match.1)] == "histogram"
            let metric = isPart ? String(match.1) : String(name.prefix { $0 != "{" })
            for pair in (match.4 ?? "").matches(of: /([a-z]+)="([^"]*)"/) where pair.1 != "le" {
                labels[metric, default: [:]][String(pair.1), default: []].insert(String(pair.2))
            }
        }
        return labels
    }
}

extension World {
    /// Asks for metrics until they are as wanted.
    @discardableResult
    func scrape(until isWanted: (Scrape) -> Bool) async throws -> Scrape {
        var last = Scrape(text: "")
        try await waitUntil {
            last = try await Scrape(of: self)
            return isWanted(last)
        }
        return last
    }
}
