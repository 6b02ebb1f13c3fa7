// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import FuzzTargets
import HTTPRules

/// A response on its way to a client.
struct Reply: Equatable {
    var status: Int
    var fields: HTTPFields
    var body: String
}

/// The origin of a cache test: it answers each step's request as the step says, and remembers what it saw.
struct ScriptedOrigin {
    struct Sighting {
        /// The step whose request this was, counted from 1.
        var step: Int
        var fields: HTTPFields
        /// The fields of the answer that the client must receive unchanged.
        var compared: HTTPFields
    }

    /// The body of every response for which the case names none.
    static let body = "as it was scripted"

    let steps: [CacheTestCase.Step]
    private(set) var sightings: [Sighting] = []

    init(_ test: CacheTestCase) {
        steps = test.requests
    }

    /// The answer to the request of a step; `nil` if the connection is closed instead.
    mutating func answer(step number: Int, fields: HTTPFields, now: Timestamp) -> Reply? {
        let step = steps[number - 1]
        let sent = (step.responseFields ?? []).map { (name: $0.name, value: $0.value.text(now: now)) }
        let isCompared = (step.responseFields ?? []).map(\.isCompared)
        let count = sightings.count + 1
        sightings.append(
            Sighting(
                step: number, fields: fields,
                compared: HTTPFields(zip(sent, isCompared).filter(\.1).map(\.0))))
        guard step.disconnect != true else { return nil }
        let status = status(of: number, fields: fields)
        let own = [
            (name: "Server-Request-Count", value: "\(count)"), (name: "Client-Request-Count", value: "\(number)"),
            (name: "Server-Now", value: "\(now)"),
        ]
        return Reply(
            status: status, fields: HTTPFields(own + sent),
            body: [204, 304].contains(status) ? "" : step.responseBody ?? Self.body)
    }

    /// The status that a step asks for; 999 if the request should have been conditional and was not.
    private func status(of number: Int, fields: HTTPFields) -> Int {
        let step = steps[number - 1]
        guard step.expectedType?.requestField != nil else { return step.responseStatus?.code ?? 200 }
        let previous = HTTPFields(
            (steps[number - 2].responseFields ?? []).compactMap { field in
                guard case .text(let value) = field.value else { return nil }
                return (name: field.name, value: value)
            })
        let isMatch = [("if-none-match", "etag"), ("if-modified-since", "last-modified")].contains {
            fields[$0].last != nil && fields[$0].last == previous[$1].last
        }
        return isMatch ? 304 : 999
    }
}

extension CacheTestCase.Value {
    func text(now: Timestamp) -> String {
        switch self {
        case .text(let text): text
        case .secondsFromNow(let seconds): HTTPDate.format(now + .seconds(seconds))
        }
    }
}
