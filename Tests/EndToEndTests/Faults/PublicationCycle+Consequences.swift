// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
import TestSupport

@testable import SyncAgentCLI

extension PublicationCycle {
    /// What is not as it should be after a fault, and after the next start.
    func consequences(
        of fault: Fault, at point: FaultPoint, end: CacheCheck
    ) async throws -> (isFaulty: Bool, problems: [String]) {
        try await restore()
        let start = CacheCheck(world.agent.cache, newer: newer)
        // Of a publication that was interrupted; they are removed by the first look, which may be what fails.
        let older = start.generation == nil ? [] : Set(try start.strays())
        let faulty = try await run(tracedBy: fault.options(at: point))
        guard faulty.isFaulty else { return (false, []) }
        let after = CacheCheck(world.agent.cache, newer: newer)
        var problems = after.damages
        if start.generation != nil, after.generation == nil { problems.append("the manifest is gone") }
        for url in end.images.keys where start.images[url] != nil && after.images[url] == nil {
            problems.append("\(url) is not ready any more")
        }
        switch (fault, faulty.code) {
        case (.kill, 128 + SIGKILL):
            break
        case (.error, 0):
            // It made no difference, or it was said what is left to be done.
            if !fault.isNamed(in: faulty.messages) { problems += try differences(from: end, in: after) }
        case (.error, 1), (.error, 73), (.error, 78):
            // A publication that failed has left nothing.
            if faulty.code == 1, after.generation == start.generation {
                problems += Set(try after.strays()).subtracting(older)
            }
            if !fault.isNamed(in: faulty.messages) { problems.append("it is not said: \(faulty.messages)") }
        default:
            problems.append("it ended with \(faulty.code): \(faulty.messages)")
        }

        let whole = end.images.filter { after.images[$0.key] == $0.value }.keys.map { ($0, sent.count(of: $0.text)) }
        let next = try await world.agent.call("run", "--once")
        if next.code != 0 { problems.append("the next run ended with \(next.code): \(next.messages)") }
        let last = CacheCheck(world.agent.cache)
        problems += last.damages
        problems += try differences(from: end, in: last)
        for (url, count) in whole where sent.count(of: url.text) != count {
            problems.append("\(url) was sent once more")
        }
        return (true, problems)
    }

    private func differences(from end: CacheCheck, in check: CacheCheck) throws -> [String] {
        let isSame = check.documents == end.documents && check.images == end.images
        return try check.strays() + (isSame ? [] : ["the lists are not as they should be"])
    }
}
