// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import HTTPRules
package import Logging
package import Reports
package import SyncPlan
import Synchronization

/// The agent's main loop: the plan turns events into actions, and effects carry them out and post new events.
package final class AgentLoop: Sendable {
    private enum Message: Sendable {
        case events([Reconciler.Event])
        case alarm
        /// A question to the plan; called with `nil` once the loop has ended.
        case question(@Sendable (Reconciler?) -> Void)
        case store(done: Milestone)
        /// Work that the loop owns.
        case work(@Sendable () async -> Void)
        /// An event from outside the plan.
        case emitted(AgentEvent)
    }

    let effects: any AgentEffects
    let clock: AgentClock
    private let logger: Logger
    let journal: EventJournal?
    /// How many images are written ahead at once: few, so that few are left when the last one has arrived.
    private let batch: Int
    /// After what time the clocks are compared again, at the latest.
    private static let longestSleep: Duration = .seconds(60)
    private let inbox: AsyncStream<Message>
    private let mailbox: AsyncStream<Message>.Continuation
    let feed = ChangeFeed()
    let latestStatus = LatestStatus()
    /// Why the state cannot be stored; `nil` if it can.
    let storageTrouble = Mutex<String?>(nil)
    /// Whether the cache may have icons that not everyone may see, once the loop has answered a question.
    let hasPrivateIcons = Atomic(false)

    /// Creates a loop, which closes the journal at its end.
    ///
    /// `effects` makes the effects, given a function that posts events to be handled together.
    package init(
        clock: AgentClock, logger: Logger, journal: EventJournal? = nil, batch: Int = 64,
        effects: (_ post: @escaping @Sendable ([Reconciler.Event]) -> Void) -> any AgentEffects
    ) {
        self.clock = clock
        self.logger = logger
        self.journal = journal
        self.batch = batch
        let (inbox, mailbox) = AsyncStream.makeStream(of: Message.self)
        (self.inbox, self.mailbox) = (inbox, mailbox)
        self.effects = effects { mailbox.yield(.events($0)) }
    }

    package func post(_ event: Reconciler.Event) {
        mailbox.yield(.events([event]))
    }

    /// Logs and journals an event from outside the plan, such as a reloaded configuration.
    package func emit(_ event: AgentEvent) {
        mailbox.yield(.emitted(event))
    }

    /// Starts work that may outlast its caller; at its end, the loop cancels it and waits for it.
    func start(_ work: @escaping @Sendable () async -> Void) {
        mailbox.yield(.work(work))
    }

    /// Puts a question to the plan; returns `nil` if the loop has ended.
    package func ask<Answer: Sendable>(_ question: @escaping @Sendable (Reconciler) -> Answer) async -> Answer? {
        await withCheckedContinuation { continuation in
            let message = Message.question { continuation.resume(returning: $0.map(question)) }
            if case .terminated = mailbox.yield(message) { continuation.resume(returning: nil) }
        }
    }

    /// Reaches the milestone when the plan has handled all earlier events, or when the loop has ended.
    func probe(_ answer: Milestone) {
        if case .terminated = mailbox.yield(.question { _ in answer.reach() }) { answer.reach() }
    }

    /// Stores all changes that the plan has handled.
    ///
    /// Returns when they are stored, storing has failed, or the task is cancelled; storing then goes on.
    package func store() async {
        let done = Milestone()
        if case .terminated = mailbox.yield(.store(done: done)) { return }
        await done.wait()
    }

    /// Runs until its task is cancelled or, with `untilSettled`, until nothing is left to do now.
    ///
    /// At the end it starts no download, cancels those in flight, and publishes what was downloaded. Only the loop keeps
    /// the plan, so that its initial data can be freed later. Returns the state at the end.
    package func run(_ plan: Handover<Reconciler>, untilSettled: Bool) async -> StatusReport {
        await withTaskCancellationHandler {
            // A cancelled task ends its stream and loses the messages still queued.
            await withoutCancellation { [self] in
                let (queue, background) = AsyncStream.makeStream(of: BackgroundWork.Piece.self)
                let worker = BackgroundWork(
                    effects: effects, logger: logger, onMemoryLost: { [self] in post(.memoryLost($0)) },
                    onTrouble: { [self] reason in
                        storageTrouble.withLock { $0 = reason }
                        feed.emit()
                    })
                async let backgroundEnd: Void = worker.run(queue)
                let report = await withDiscardingTaskGroup { jobs in
                    let report = await decide(plan, untilSettled: untilSettled, background: background, &jobs)
                    jobs.cancelAll()
                    return report
                }
                background.finish()
                await backgroundEnd
                return report
            }
        } onCancel: {
            post(.stopping)
        }
    }

    private func decide(
        _ handover: Handover<Reconciler>, untilSettled: Bool,
        background: AsyncStream<BackgroundWork.Piece>.Continuation, _ jobs: inout DiscardingTaskGroup
    ) async -> StatusReport {
        guard var plan = handover.take() else { preconditionFailure("a plan is run once") }
        hasPrivateIcons.store(!plan.privateOrigins.isEmpty, ordering: .relaxed)
        var sleep = SleepMeter()
        var wall = WallClockMeter(clock: clock)
        var heap = HeapTrimmer()
        var alarm = Alarm(clock: clock) { [mailbox] in mailbox.yield(.alarm) }
        alarm.set(plan.nextWake)
        var log = EventLog(logger: logger)
        var ahead: [ImageAhead] = []
        journal?.append([.agentStarted(version: Version.current)], at: AgentClock.wallTime)
        for await message in inbox {
            var events: [Reconciler.Event]
            switch message {
            case .question(let answer):
                answer(plan)
                continue
            case .store(let done):
                background.yield(.task(.remember(plan.drainMemoChanges())))
                background.yield(.reached(done))
                continue
            case .work(let work):
                jobs.addTask { await work() }
                continue
            case .emitted(let event):
                journal?.append([event], at: AgentClock.wallTime)
                log.record([], emitted: [event], after: plan, now: clock.now)
                continue
            case .alarm:
                alarm.set(nil)
                events = [.tick]
            case .events(let happened):
                events = happened
            }
            // Handled together: what one event would start, the next may cancel.
            if let time = sleep.read() { events.insert(.slept(time), at: 0) }
            if let offset = wall.read() { events.insert(.clockSet(offset: offset), at: 0) }
            let now = clock.now
            let actions = plan.handle(events, now: now)
            log.record(events, ended: plan.endedDownloads, now: now)
            hasPrivateIcons.store(!plan.privateOrigins.isEmpty, ordering: .relaxed)
            latestStatus.recordChange { plan.status }
            perform(actions, background: background, log, &ahead, &jobs)
            // So an agent with nothing to store also notices that its state was removed.
            if events.contains(where: \.isScan) { background.yield(.task(.remember(MemoChanges()))) }
            let emitted = plan.drainEvents()
            journal?.append(emitted, at: AgentClock.wallTime)
            log.record(events, emitted: emitted, after: plan, now: clock.now)
            feed.emit()
            let isSettled = plan.isSettled
            if isSettled, untilSettled || plan.isStopping { break }
            heap.record(changes: events.reduce(0) { $0 + $1.weight }, isAtRest: isSettled, now: clock.now)
            // Nothing reports that the wall clock is set.
            alarm.set([plan.nextWake, log.due, clock.now + Self.longestSleep].compactMap(\.self).min())
        }
        log.finish(now: clock.now)
        if !plan.isStopping { journal?.append([.agentStopping], at: AgentClock.wallTime) }
        background.yield(.task(.remember(plan.drainMemoChanges())))
        await effects.shutDownDownloads()
        await effects.discard(plan.stagedFiles)
        mailbox.finish()
        let report = plan.status
        feed.end()
        await journal?.close()
        for await message in inbox {
            switch message {
            case .question(let answer): answer(nil)
            case .store(let done): done.reach()
            case .events, .alarm, .emitted, .work: break
            }
        }
        return report
    }

    private func perform(
        _ actions: [Reconciler.Action], background: AsyncStream<BackgroundWork.Piece>.Continuation, _ log: EventLog,
        _ ahead: inout [ImageAhead], _ jobs: inout DiscardingTaskGroup
    ) {
        var requests: [FetchRequest] = []
        for action in actions {
            switch action {
            case .fetch(let request):
                log.record(request)
                requests.append(request)
            case .cancel(let url): effects.cancel(url)
            case .writeAhead(let staged, let url):
                ahead.append(ImageAhead(staged: staged, url: url))
                guard ahead.areMany(batch, bytes: 1 << 20) else { continue }
                jobs.addTask { [effects, images = ahead] in await effects.writeAhead(images) }
                ahead = []
            case .look: jobs.addTask { [effects] in await effects.rescan() }
            case .start(let job): jobs.addTask { [self] in post(await effects.perform(job)) }
            case .background(let work): background.yield(.task(work))
            }
        }
        if !requests.isEmpty { effects.begin(requests) }
    }
}

extension Reconciler.Event {
    /// How much memory the event frees for the system, in units of finished downloads.
    fileprivate var weight: Int {
        switch self {
        // The memory used to read lists is freed once the plan has them.
        case .scanned(.listed(_, present: _, let changed)):
            changed.values.reduce(1) { sum, reading in
                if case .success(let list) = reading.verdict { sum + list.entries.count } else { sum }
            }
        // A complete inspection goes through all images.
        case .inspected(let found): found.latestGeneration > 0 ? HeapTrimmer.leastChanges : 1
        default: 1
        }
    }

    fileprivate var isScan: Bool {
        if case .scanned = self { true } else { false }
    }
}
