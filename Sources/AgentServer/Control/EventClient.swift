// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import FoundationEssentials
import Glibc
import LocalHTTP
import NIOCore
import NIOHTTP1
package import SyncAgent
package import SystemPackage

package struct EventClient: Sendable {
    /// The delays between attempts to reach an agent that has stopped; they double.
    private static let pauses: (first: Duration, longest: Duration) = (.milliseconds(50), .seconds(1))

    private let client: ControlClient

    package init(socket: FilePath) {
        client = ControlClient(socket: socket)
    }

    /// Reads a page of past events: a line for each, and the number to continue after.
    package func page(from start: EventStart, limit: Int) async throws -> (lines: [String], next: Int) {
        struct Page: Decodable { var next: Int }
        return try await client.ask(.GET, "events?\(Self.query(start))&limit=\(limit)") { connection in
            let text = try await connection.rest(upTo: ControlClient.longest)
            let next = try JSONDecoder().decode(Page.self, untrusted: Data(text)).next
            let lines = text.split(separator: UInt8(ascii: "\n")).compactMap { row -> String? in
                let line = row.drop { $0 == UInt8(ascii: " ") }
                guard row.startIndex < line.startIndex, line.starts(with: Array("{ \"id\"".utf8)) else { return nil }
                return String(decoding: line.last == UInt8(ascii: ",") ? line.dropLast() : line, as: UTF8.self)
            }
            return (lines, next)
        }
    }

    /// Follows the events across restarts of the agent, until the task is cancelled.
    ///
    /// `noteLoss` is called when the connection is lost, before reconnecting.
    ///
    /// - Throws: An error of the first connection, a refusal at any time, or an error of the body.
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
                // A refusal is permanent.
                throw error
            } catch let error as IOError where error.errnoCode == EACCES && pause > Self.pauses.first * 4 {
                // A starting agent opens its socket to others only when it can answer: EACCES is tolerated at first.
                throw error
            } catch {
                // The agent is stopping, stopped or starting, so try again.
            }
            if pause == Self.pauses.first { noteLoss() }
            try await Task.sleep(for: pause)
            pause = min(pause * 2, Self.pauses.longest)
        }
    }

    /// Wraps an error of `body`, to tell it from errors of the connection.
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

/// An incremental parser of server-sent events.
struct EventStreamParser {
    private var line: [UInt8] = []
    private var id: Int?
    private var data: String?

    /// Consumes bytes; returns the events that they complete.
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
