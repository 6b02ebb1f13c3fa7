// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Glibc
import LocalHTTP
import NIOCore
import NIOHTTP1
package import SyncAgent
package import SystemPackage

/// Reads the events of a running agent.
package struct EventClient: Sendable {
    /// The time between two tries to reach an agent that has stopped: from the first to the longest.
    private static let pauses: (first: Duration, longest: Duration) = (.milliseconds(50), .seconds(1))

    private let client: ControlClient

    package init(socket: FilePath) {
        client = ControlClient(socket: socket)
    }

    /// Reads some events that there are.
    ///
    /// - Returns: Their lines, and the number to ask with for what comes after.
    /// - Throws: ``ControlClient/Unexpected`` if the agent refuses, and what keeps it from being asked.
    package func page(from start: EventStart, limit: Int) async throws -> (lines: [String], next: Int) {
        struct Page: Decodable { var next: Int }
        return try await client.ask(.GET, "events?\(Self.query(start))&limit=\(limit)") { connection in
            let text = try await connection.rest(upTo: ControlClient.longest)
            let next = try JSONDecoder().decode(Page.self, from: Data(text)).next
            // The page has one event a line.
            let lines = text.split(separator: UInt8(ascii: "\n")).compactMap { row -> String? in
                let line = row.drop { $0 == UInt8(ascii: " ") }
                guard row.startIndex < line.startIndex, line.starts(with: Array("{ \"id\"".utf8)) else { return nil }
                return String(decoding: line.last == UInt8(ascii: ",") ? line.dropLast() : line, as: UTF8.self)
            }
            return (lines, next)
        }
    }

    /// Follows the events for ever, also over restarts of the agent.
    ///
    /// - Parameters:
    ///   - start: With which event to begin.
    ///   - noteLoss: Called when the agent does not answer any more, and is waited for.
    ///   - body: Called with lines in their order.
    /// - Throws: What keeps the agent from being asked at first, its refusal at any time, and what the body throws.
    package func follow(
        from start: EventStart, noteLoss: () -> Void, _ body: ([String]) throws -> Void
    ) async throws {
        let (lines, newest) = try await page(from: start, limit: EventPage.longest)
        var next = newest
        if !lines.isEmpty { try body(lines) }
        var pause = Self.pauses.first
        while !Task.isCancelled {
            do {
                try await stream(from: &next) { lines in
                    pause = Self.pauses.first
                    try body(lines)
                }
            } catch let error as Stopped {
                throw error.reason
            } catch let error as ControlClient.Unexpected where (400..<500).contains(error.status) {
                // It will not be allowed later either.
                throw error
            } catch let error as IOError where error.errnoCode == EACCES && pause > Self.pauses.first * 4 {
                // An agent that starts opens its socket to others only when it can answer.
                throw error
            } catch {
                // It ends, has ended, or starts.
            }
            if pause == Self.pauses.first { noteLoss() }
            try await Task.sleep(for: pause)
            pause = min(pause * 2, Self.pauses.longest)
        }
    }

    /// What the reader of the events threw: that is no matter of the connection.
    private struct Stopped: Error { var reason: any Error }

    private func stream(from next: inout Int, _ body: ([String]) throws -> Void) async throws {
        try await client.ask(.GET, "events?since=\(next)", fields: [("accept", "text/event-stream")]) { connection in
            var parser = EventStreamParser()
            while let buffer = try await connection.next() {
                let events = parser.take(buffer.readableBytesView)
                guard let last = events.last else { continue }
                do { try body(events.map(\.data)) } catch { throw Stopped(reason: error) }
                next = last.id
            }
        }
    }

    private static func query(_ start: EventStart) -> String {
        switch start {
        case .after(let id): "since=\(id)"
        case .last(let count): "last=\(count)"
        case .now: "last=0"
        }
    }
}

/// Takes events out of a stream as it comes.
struct EventStreamParser {
    private var line: [UInt8] = []
    private var id: Int?
    private var data: String?

    /// Takes bytes in.
    ///
    /// - Returns: The events that are complete.
    mutating func take(_ bytes: some Sequence<UInt8>) -> [(id: Int, data: String)] {
        var events: [(id: Int, data: String)] = []
        for byte in bytes {
            guard byte == UInt8(ascii: "\n") else {
                line.append(byte)
                continue
            }
            if line.isEmpty {
                if let id, let data { events.append((id, data)) }
                data = nil
            } else if let value = value(of: "id: ") {
                id = Int(value)
            } else if let value = value(of: "data: ") {
                data = value
            }
            line.removeAll(keepingCapacity: true)
        }
        return events
    }

    private func value(of field: String) -> String? {
        line.starts(with: field.utf8) ? String(decoding: line.dropFirst(field.utf8.count), as: UTF8.self) : nil
    }
}
