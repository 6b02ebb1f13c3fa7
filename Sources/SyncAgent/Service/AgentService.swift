// SPDX-License-Identifier: Apache-2.0
import Logging
import Reports

/// Notifies the service manager while the agent runs.
struct AgentService: Sendable {
    let manager: ServiceManager
    let agent: RunningAgent
    let probes: PartProbes
    let logger: Logger

    /// Notifies the service manager until the task is cancelled, and then until the agent's loop has ended.
    ///
    /// The agent is ready when it has scanned the lists folder once and its socket accepts clients. An unreadable
    /// folder does not delay this: the status shows it.
    func run() async {
        await withTaskGroup { group in
            group.addTask { await announceReadiness() }
            group.addTask { await reportStatus() }
            if let watchdog = manager.watchdog { group.addTask { await feed(every: watchdog) } }
            group.addTask { await announceStop() }
        }
    }

    func reload(_ work: () async -> Void) async {
        await manager.notify { $0.reloading(at: AgentClock.timeAwake) }
        await work()
        await manager.notify { $0.reloaded() }
    }

    private func announceReadiness() async {
        await agent.waitUntilReady()
        guard !Task.isCancelled, let status = await agent.status() else { return }
        await manager.notify { $0.ready(status.serviceLine, at: AgentClock.timeAwake) }
    }

    private func reportStatus() async {
        var last = ""
        for await _ in agent.changes {
            // Changes in quick succession are reported together.
            guard (try? await Task.sleep(for: ServiceNotices.pace)) != nil else { return }
            // A start that makes progress may take as long as it needs.
            if agent.isStarting { await manager.notify { $0.stillStarting() } }
            guard let status = await agent.status() else { return }
            let text = probes.trouble ?? status.serviceLine
            if text == last { continue }
            last = text
            await send(text)
        }
    }

    /// Sends a status as soon as the rate limit allows.
    private func send(_ text: String) async {
        guard (try? await Task.sleep(for: await manager.pause)) != nil else { return }
        await manager.notify { $0.status(text, at: AgentClock.timeAwake) }
    }

    /// Announces the stop once the task is cancelled, whatever the other tasks wait for, and repeats the message until
    /// the agent's loop has ended.
    private func announceStop() async {
        await Milestone().wait()
        await manager.notify { $0.stopping() }
        await withoutCancellation {
            while await !agent.hasEnded(within: .seconds(1)) { await manager.notify { $0.stillStopping() } }
        }
    }

    /// Feeds the watchdog at each interval in which all parts of the agent have answered.
    ///
    /// If a part is late, the watchdog is fed as soon as it answers. The service manager restarts the agent after two
    /// intervals without a feed.
    private func feed(every interval: Duration) async {
        while true {
            probes.ask()
            guard (try? await Task.sleep(for: interval)) != nil else { return }
            let silent = probes.silent
            if !silent.isEmpty { await waitForAnswers(of: silent) }
            guard !Task.isCancelled else { return }
            await manager.notify { $0.alive() }
            if !silent.isEmpty, let status = await agent.status() { await send(status.serviceLine) }
        }
    }

    /// Reports the parts that do not respond, and returns when all of them do.
    private func waitForAnswers(of parts: [String]) async {
        logger.error(
            "parts of the agent do not respond: the watchdog is not fed",
            metadata: ["parts": "\(parts.joined(separator: ", "))"])
        let trouble = "not responding: \(parts.joined(separator: ", "))"
        probes.recordTrouble(trouble)
        do {
            async let _: Void = send(trouble)
            await probes.waitForAnswers()
        }
        guard !Task.isCancelled else { return }
        probes.recordTrouble(nil)
        logger.notice("all parts of the agent respond again")
    }
}
