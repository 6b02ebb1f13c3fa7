// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import HTTPRules

@testable import SyncPlan

extension AgentScenario {
    /// Makes an agent with lists that are too large for their documents to be written.
    init(
        servers: [String: SimulatedServers.Server], triesOnce: Bool = false,
        _ change: (inout Settings) -> Void = { _ in }
    ) {
        self.init(triesOnce: triesOnce, change)
        self.servers.hosts = servers
        disk.bytesPerApp = 300
    }

    var elapsed: Duration { now - Sample.start }

    /// Since when the icon that has been stale for longest is stale; `nil` if none is.
    var oldestStaleTime: Timestamp? { plan.failedIcons(now: now).values.compactMap(\.staleSince).min() }

    /// Lets servers answer and work on disk end until nothing more can be done now, or until a time has passed.
    mutating func run(for limit: Duration? = nil) throws {
        let end = limit.map { now + $0 }
        while end != nil || !plan.isSettled {
            if jobEnd == nil { jobEnd = jobDuration.map { now + $0 } }
            let (answer, job) = (servers.nextAnswer, jobEnd)
            guard let time = [answer, job, plan.nextWake].compactMap(\.self).min(), time <= end ?? time else { break }
            now = max(now, time)
            if let answer, answer <= now {
                try receiveAnswer()
            } else if let job, job <= now {
                try endJob()
            } else {
                wakeUps += 1
                try handle(.tick)
            }
        }
        if let end { now = end }
    }

    /// How long it takes what is being done on disk; `nil` if nothing is.
    private var jobDuration: Duration? {
        if publication != nil { return .milliseconds(20) }
        return releases != nil || removal != nil ? .milliseconds(1) : nil
    }

    private mutating func receiveAnswer() throws {
        guard let (url, answer) = servers.receive() else { return }
        var outcome = answer
        if case .image(let staged, let response) = answer { outcome = .image(stage(staged.image), response) }
        try finish(url, outcome, isMultiplexed: servers.isMultiplexed)
    }

    private mutating func endJob() throws {
        jobEnd = nil
        for document in publication?.documents ?? [] where whole[document.list] == nil {
            if document.readyImages.count == document.apps.count { whole[document.list] = now }
        }
        if publication != nil {
            try finishPublication()
        } else if releases != nil {
            try finishRelease()
        } else {
            try finishRemoval()
        }
    }
}
