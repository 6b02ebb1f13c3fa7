// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import FoundationEssentials
import Reports
import SyncPlan
import TestSupport
import Testing

@testable import AgentServer

/// What the agent answers, made from its description: read as the commands read it, and written again.
@Suite("Answers and their schemas")
struct AnswerTests {
    enum Answer: String, CaseIterable, Sendable {
        case status = "Status"
        case list = "List"
        case icons = "Icons"
        case why = "Why"
        case sync = "Sync"
        case pins = "Pins"
        case mutes = "Mutes"
        case selection = "Selection"
        case eviction = "Eviction"
        case reload = "Reload"
        case settings = "Settings"

        /// The members that are derived from the others when it is written, or added to it.
        var derived: Set<String> { self == .status ? ["verdict", "problems", "purge"] : [] }

        func written(_ json: JSON) throws -> JSON {
            switch self {
            case .status: try Self.read(StatusReport.self, json).json
            case .list: try Self.read(StatusReport.List.self, json).json
            case .icons: try Self.read(IconPage.self, json).json
            case .why: try Self.read(IconReport.self, json).json
            case .sync: try Self.read(SyncReport.self, json).json
            case .pins: try Self.read(PinReport.self, json).json
            case .mutes: try Self.read(MuteReport.self, json).json
            case .selection: try Self.read(SelectionReport.self, json).json
            case .eviction: try Self.read(EvictionReport.self, json).json
            case .reload: try Self.read(ReloadReport.self, json).json
            case .settings: try Self.read(SettingsReport.self, json).json
            }
        }

        static func read<T: Decodable>(_ type: T.Type, _ json: JSON) throws -> T {
            try JSONDecoder().decode(type, from: Data(json.line.utf8))
        }
    }

    @Test("each member is read and written, with each value that is enumerated, and null", arguments: Answer.allCases)
    func members(answer: Answer) throws {
        let description = try Description.read()
        let schema = try description.schema(answer.rawValue)
        var texts: [String] = []
        for (isFull, choice) in [(true, 0), (true, 1), (true, 2), (true, 3), (true, 4), (false, 0)] {
            let sample = try description.sample(schema, isFull: isFull, choice: choice)
            let written = try answer.written(sample)
            #expect(try written.without(answer.derived).sorted == sample.without(answer.derived).sorted)
            #expect(try description.faults(of: written, in: schema, at: answer.rawValue) == [])
            if choice == 0 { texts.append(written.text + "\n") }
        }
        try Golden.expect(texts.joined(), "answer-\(answer.rawValue).json")
    }

    @Test("members of a later version are ignored", arguments: Answer.allCases)
    func laterMembers(answer: Answer) throws {
        let description = try Description.read()
        let sample = try description.sample(try description.schema(answer.rawValue), isFull: true)
        #expect(try answer.written(sample.adding("later", ["x": [1, nil]])).text == answer.written(sample).text)
    }

    @Test("members that an earlier version did not have may be absent")
    func earlierMembers() throws {
        let description = try Description.read()
        var absent: [String] = []
        for answer in Answer.allCases {
            let schema = try description.schema(answer.rawValue)
            for (path, json) in try description.sample(schema, isFull: true).removals(at: answer.rawValue) {
                guard let written = try? answer.written(json) else { continue }
                absent.append(path)
                #expect(try description.faults(of: written, in: schema, at: answer.rawValue) == [], "without \(path)")
            }
        }
        try Golden.expect(Set(absent).sorted().map { $0 + "\n" }.joined(), "answers-absent.txt")
    }

    @Test("the result of a purge is in the status that follows it")
    func purge() throws {
        let description = try Description.read()
        let schema = try #require(try description.schema("Status").properties["purge"])
        for (isFull, choice) in [(true, 0), (true, 1), (true, 2), (true, 3), (false, 0)] {
            let sample = try description.sample(schema, isFull: isFull, choice: choice)
            let written = JSON(try Answer.read(PurgeReport.self, sample))
            #expect(try written.sorted == sample.sorted)
        }
    }
}

extension JSON {
    /// The same, with a member more in each object.
    fileprivate func adding(_ name: String, _ value: JSON) -> JSON {
        switch self {
        case .object(let members):
            .object(members.map { ($0.key, $0.value.adding(name, value)) } + [(name, value)])
        case .array(let values): .array(values.map { $0.adding(name, value) })
        default: self
        }
    }

    /// The same without one of its members, for each one, by its path.
    fileprivate func removals(at path: String) -> [(path: String, json: JSON)] {
        switch self {
        case .object(let members):
            members.indices.flatMap { index -> [(path: String, json: JSON)] in
                let (name, value) = members[index]
                var others = members
                others.remove(at: index)
                return [("\(path).\(name)", .object(others))]
                    + value.removals(at: "\(path).\(name)").map { inner in
                        var changed = members
                        changed[index].value = inner.json
                        return (inner.path, .object(changed))
                    }
            }
        case .array(let values):
            values.first.map { first in
                first.removals(at: path).map { ($0.path, .array([$0.json] + values.dropFirst())) }
            } ?? []
        default: []
        }
    }
}
