// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules
import SyncPlan

/// A private cache that holds one response a URL and only sends GET, made of nothing but the agent's own rules.
///
/// What the agent has of its own beside the RFC is switched off: nothing rests longer than its server says.
struct SimulatedCache {
    private struct Entry {
        var response: StoredResponse
        var reply: Reply
    }

    private static let policy = RefreshPolicy(minimum: .zero, default: .zero, longestDelay: .zero)

    private var entries: [String: Entry] = [:]
    private var generator = SeededGenerator(seed: 1)
    private let stores: Bool
    private(set) var now: Timestamp

    /// An empty cache.
    ///
    /// - Parameters:
    ///   - now: The time that its clock shows.
    ///   - stores: Whether it ever stores anything.
    init(now: Timestamp, stores: Bool = true) {
        self.now = now
        self.stores = stores
    }

    mutating func wait(_ duration: Duration) {
        now = now + duration
    }

    /// The response to the request of a step.
    mutating func get(_ url: String, step: Int, from origin: inout ScriptedOrigin) -> Reply {
        guard let entry = entries[url] else { return fetch(url, step: step, from: &origin) }
        let check = NextCheck(for: entry.response, under: Self.policy, using: &generator)
        guard check.isDue(at: now) else { return used(entry) }
        guard entry.response.mayBeUsedWhileRevalidating(at: now) else {
            return fetch(url, step: step, from: &origin)
        }
        let reply = used(entry)
        _ = fetch(url, step: step, from: &origin)
        return reply
    }

    private mutating func fetch(_ url: String, step: Int, from origin: inout ScriptedOrigin) -> Reply {
        let entry = entries[url]
        let requestTime = now
        let answer = origin.answer(step: step, fields: Self.conditions(entry), now: now)
        wait(.seconds(origin.steps[step - 1].responsePause ?? 0))
        guard let answer, !(500...599).contains(answer.status) || entry == nil else {
            if let entry, entry.response.mayBeUsedOnError(at: now) { return used(entry) }
            return answer ?? Reply(status: 504, fields: HTTPFields(), body: "")
        }
        if answer.status == 304, let entry {
            return freshened(entry, with: answer, requestTime: requestTime, url: url, step: step, from: &origin)
        }
        let response = StoredResponse(
            status: answer.status, fields: answer.fields, requestTime: requestTime, responseTime: now)
        if stores, response.mayBeStored {
            entries[url] = Entry(response: response, reply: answer)
        }
        return answer
    }

    private mutating func freshened(
        _ entry: Entry, with answer: Reply, requestTime: Timestamp, url: String, step: Int,
        from origin: inout ScriptedOrigin
    ) -> Reply {
        let update = StoredResponse(fields: answer.fields, requestTime: requestTime, responseTime: now)
        guard case .updated(let response) = entry.response.freshened(by: update) else {
            entries[url] = nil
            return fetch(url, step: step, from: &origin)
        }
        let own = HTTPFields(entry.reply.fields.lines.filter { $0.name != "age" })
        let fields = own.updated(by: answer.fields)
        let reply = Reply(status: entry.reply.status, fields: fields, body: entry.reply.body)
        entries[url] = Entry(response: response, reply: reply)
        return reply
    }

    /// A stored response as it is handed out, with its age (RFC 9111, section 5.1).
    private func used(_ entry: Entry) -> Reply {
        let age = Freshness(of: entry.response).age(at: now).components.seconds
        var reply = entry.reply
        reply.fields = reply.fields.updated(by: HTTPFields([(name: "Age", value: "\(age)")]))
        return reply
    }

    private static func conditions(_ entry: Entry?) -> HTTPFields {
        let validators = entry?.response.validators
        return HTTPFields(
            [("If-None-Match", validators?.etag), ("If-Modified-Since", validators?.lastModified)]
                .compactMap { name, value in value.map { (name: name, value: $0) } })
    }
}
