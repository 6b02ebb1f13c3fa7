// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
package import Logging
package import SyncPlan
import Synchronization
import WebAddresses

/// The one loop of the agent: events go in, the plan decides, its actions are carried out, and what comes of them are events.
package final class AgentLoop: Sendable {
    private enum Message: Sendable {
        /// What happened at once.
        case events([Reconciler.Event])
        case alarm
        /// Something that somebody wants to know of the plan; there is none any more when the loop has ended.
        case question(@Sendable (Reconciler?) -> Void)
    }

    private let downloads: Downloads
    private let staging: Staging
    private let publisher: Publisher
    private let evictor: Evictor
    private let inspector: CacheInspector
    private let store: StateStore
    private let clock: AgentClock
    private let logger: Logger
    private let inbox: AsyncStream<Message>
    private let mailbox: AsyncStream<Message>.Continuation
    private let feed = ChangeFeed()
    /// The status after the change of this number.
    private let told = Mutex<(change: Int, status: StatusReport)?>(nil)

    package init(
        staging: Staging, publisher: Publisher, evictor: Evictor, inspector: CacheInspector, store: StateStore,
        clock: AgentClock, logger: Logger,
        downloads: (_ report: @escaping @Sendable ([Downloads.End]) -> Void) -> Downloads
    ) {
        self.staging = staging
        self.publisher = publisher
        self.evictor = evictor
        self.inspector = inspector
        self.store = store
        self.clock = clock
        self.logger = logger
        let (inbox, mailbox) = AsyncStream.makeStream(of: Message.self)
        (self.inbox, self.mailbox) = (inbox, mailbox)
        self.downloads = downloads { ends in
            mailbox.yield(
                .events(
                    ends.map {
                        .fetched(url: $0.url, $0.outcome, trail: $0.trail, isMultiplexed: $0.isMultiplexed)
                    }))
        }
    }

    /// The time as the loop counts it.
    package var now: Timestamp { clock.now }

    /// Takes note of something that happened outside.
    package func post(_ event: Reconciler.Event) {
        mailbox.yield(.events([event]))
    }

    /// What there is to tell at the moment; `nil` if the loop has ended.
    package func status() async -> StatusReport? {
        await ask { [self] plan in
            // Nothing changes while the loop answers.
            guard let change = feed.newest else { return plan.status }
            if let told = told.withLock(\.self), told.change == change { return told.status }
            let status = plan.status
            told.withLock { $0 = (change, status) }
            return status
        }
    }

    /// What goes and what stays: of one icon, or of all that no list names.
    package func evictionReport(on url: IconURL? = nil) async -> EvictionReport? {
        guard let snapshot = await ask({ [clock] in $0.evictionSnapshot(of: url, now: clock.now) }) else { return nil }
        // Not in the loop: there may be much to tell.
        return snapshot.report(leases: await evictor.leases(on: snapshot.superseded))
    }

    /// Everything known of one URL; `nil` if it is unknown.
    package func report(on url: IconURL) async -> IconReport? {
        await ask { [clock] in $0.report(on: url, now: clock.now) } ?? nil
    }

    /// What the plan has to say; `nil` if the loop has ended.
    package func ask<Answer: Sendable>(_ question: @escaping @Sendable (Reconciler) -> Answer) async -> Answer? {
        await withCheckedContinuation { continuation in
            let message = Message.question { continuation.resume(returning: $0.map(question)) }
            if case .terminated = mailbox.yield(message) { continuation.resume(returning: nil) }
        }
    }

    /// Takes note of something that happened, and returns when the plan says that what follows from it is done, when
    /// the time is over, or with the loop.
    package func post(
        _ event: Reconciler.Event, andWaitUntil isDone: @escaping @Sendable (Reconciler) -> Bool, atMost limit: Duration
    ) async {
        post(event)
        await wait(atMost: limit) { [self] in
            for await _ in changes where await ask(isDone) ?? true { return }
        }
    }

    /// An element at once and whenever something may have changed that the status tells; ends with the loop.
    ///
    /// Elements that are not taken become one.
    package var changes: ChangeFeed.Changes { feed.changes }

    /// Runs until its task is cancelled or, if asked to, until nothing is left to do now.
    ///
    /// At the end no download is begun any more, those under way are given up, and what was downloaded is published.
    ///
    /// - Parameters:
    ///   - plan: The plan to begin with, which nobody else keeps: what it holds at the start may be forgotten later.
    ///   - untilSettled: Whether to end when nothing is left to do now.
    ///   - look: Has the lists folder listed, and what comes of it posted.
    /// - Returns: The state at the end.
    package func run(
        _ plan: Handover<Reconciler>, untilSettled: Bool, look: @escaping @Sendable () async -> Void
    ) async -> StatusReport {
        // A stream ends for a task that is cancelled, and with it what is still to come through it.
        let work = Task {
            let (chores, desk) = AsyncStream.makeStream(of: Reconciler.Chore.self)
            async let housekeeping: Void = keepHouse(chores)
            let report = await decide(plan, untilSettled: untilSettled, desk: desk, look: look)
            desk.finish()
            await housekeeping
            return report
        }
        return await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            mailbox.yield(.events([.stopping]))
        }
    }

    private func decide(
        _ handover: Handover<Reconciler>, untilSettled: Bool, desk: AsyncStream<Reconciler.Chore>.Continuation,
        look: @escaping @Sendable () async -> Void
    ) async -> StatusReport {
        guard var plan = handover.take() else { preconditionFailure("a plan is run once") }
        var sleep = SleepMeter()
        var heap = HeapTrimmer()
        var alarm = Alarm(clock: clock) { [mailbox] in mailbox.yield(.alarm) }
        alarm.set(plan.nextWake)
        var scanLog = ScanLog(logger: logger)
        for await message in inbox {
            var events: [Reconciler.Event]
            switch message {
            case .question(let answer):
                answer(plan)
                continue
            case .alarm:
                alarm.rang()
                events = [.tick]
            case .events(let happened):
                events = happened
            }
            for event in events { log(event, plan) }
            let doubt = plan.unavailable
            if let time = sleep.read() {
                logger.info("the system slept", metadata: ["time": "\(DurationText.format(time))"])
                // All at once: what one of them would begin may be cancelled by the next.
                events.insert(.slept(time), at: 0)
            }
            var requests: [FetchRequest] = []
            for action in plan.handle(events, now: clock.now) {
                switch action {
                case .fetch(let request):
                    logger.debug(
                        "icon requested",
                        metadata: ["url": "\(LogURL(request.url))", "reason": "\(request.reason.rawValue)"])
                    requests.append(request)
                case .cancel(let url): downloads.cancel(url)
                case .writeAhead(let staged): publisher.writeAhead(staged)
                case .look: Task { await look() }
                case .start(let job): start(job)
                case .later(let chore): desk.yield(chore)
                }
            }
            if !requests.isEmpty { downloads.begin(requests) }
            for case .scanned(let scan) in events {
                scanLog.note(scan) { plan.hasGoodVersion(of: $0) }
                if case .listed = scan, plan.unavailable != doubt { logDoubt(plan.unavailable) }
            }
            feed.note()
            let isSettled = plan.isSettled
            if isSettled, untilSettled || plan.isStopping { break }
            heap.note(changes: events.count, isAtRest: isSettled, now: clock.now)
            alarm.set(plan.nextWake)
        }
        desk.yield(.remember(plan.takeMemoChanges()))
        await downloads.shutdown()
        mailbox.finish()
        let report = plan.status
        feed.end()
        for await message in inbox {
            switch message {
            case .question(let answer): answer(nil)
            case .events, .alarm: break
            }
        }
        return report
    }

    /// Starts what takes its time; the plan waits for the event with which it ends.
    private func start(_ job: Reconciler.Job) {
        Task { [staging, publisher, evictor, inspector] in
            switch job {
            case .publish(let publication): post(.published(await publisher.publish(publication)))
            case .release(let generations):
                let done = await evictor.release(generations)
                post(.released((removed: done.removed, kept: done.kept), failed: done.failed))
            case .remove(let plan): post(.removed(failed: await evictor.remove(plan)))
            case .measureSpace(let trial): post(.space(await staging.measure(trial: trial)))
            case .inspect(let expected): post(.inspected(await inspector.inspect(expected)))
            }
        }
    }

    /// Does what nothing waits for, one thing after the other.
    private func keepHouse(_ chores: AsyncStream<Reconciler.Chore>) async {
        var unstored = MemoChanges()
        for await chore in chores {
            switch chore {
            case .discard(let names): await publisher.discard(names)
            case .discardPartials(let urls): await staging.discardPartials(of: urls)
            case .remember(let changes): await store(changes, after: &unstored)
            }
        }
    }

    /// Logs that a folder which could be listed is not taken for that of the lists, or is again.
    private func logDoubt(_ reason: String?) {
        guard let reason else { return logger.notice("the lists folder is taken for what it says") }
        logger.warning("the lists folder is in doubt: all lists stay as they were", metadata: ["reason": "\(reason)"])
    }

    /// Logs what happened, before the plan takes it in.
    private func log(_ event: Reconciler.Event, _ plan: borrowing Reconciler) {
        switch event {
        case .fetched(let url, let outcome, _, _): log(plan.judged(outcome, of: url), of: url)
        case .published(let result): log(result)
        default: break
        }
    }

    private func log(_ result: PublicationResult) {
        switch result {
        case .published(_, _, nil): break
        case .noRoom(let shortage, _, _):
            logger.warning("some list documents are not published", metadata: ["reason": "\(shortage.reason)"])
        case .published(let manifest, _, let doubt?):
            logger.error(
                "a generation may not be durable",
                metadata: ["generation": "\(manifest.generation)", "reason": "\(doubt)"])
        case .failed(let reason, _):
            logger.error("a publication failed: the generation before stays", metadata: ["reason": "\(reason)"])
        }
    }

    /// Stores changes, and before them those that could not be stored until now, as on a full disk.
    private func store(_ changes: MemoChanges, after unstored: inout MemoChanges) async {
        let isFirst = unstored.isEmpty
        unstored.append(changes)
        do {
            let isWhole = try await store.apply(unstored)
            unstored = MemoChanges()
            if !isWhole { post(.memoryLost) }
            if !isFirst { logger.notice("the state is stored again") }
        } catch {
            if isFirst { logger.warning("the state could not be stored", metadata: ["reason": "\(error)"]) }
        }
    }

    private func log(_ outcome: FetchOutcome, of url: IconURL) {
        switch outcome {
        case .image(let staged, _):
            logger.debug("icon downloaded", metadata: ["url": "\(LogURL(url))", "bytes": "\(staged.image.bytes)"])
        case .failed(let failure):
            logger.warning(
                "icon not downloaded",
                metadata: ["url": "\(LogURL(url))", "code": "\(failure.code)", "reason": "\(failure.message)"])
        case .noRoom(let shortage):
            logger.warning(
                "icon not downloaded",
                metadata: ["url": "\(LogURL(url))", "code": "\(shortage.code)", "reason": "\(shortage.reason)"])
        case .notModified, .cancelled: break
        }
    }
}
