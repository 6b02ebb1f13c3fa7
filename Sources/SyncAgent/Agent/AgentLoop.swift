// SPDX-License-Identifier: Apache-2.0
package import IconCache
package import Logging
package import SyncPlan

/// The one loop of the agent: events go in, the plan decides, its actions are carried out, and what comes of them are events.
package final class AgentLoop: Sendable {
    private enum Message: Sendable {
        case event(Reconciler.Event)
        case alarm
        /// Something that somebody wants to know of the plan; there is none any more when the loop has ended.
        case question(@Sendable (Reconciler?) -> Void)
        case watch(AsyncStream<Void>.Continuation)
    }

    private let fetcher: Fetcher
    private let staging: Staging
    private let publisher: Publisher
    private let evictor: Evictor
    private let store: StateStore
    private let clock: AgentClock
    private let logger: Logger
    private let inbox: AsyncStream<Message>
    private let mailbox: AsyncStream<Message>.Continuation

    package init(
        fetcher: Fetcher, staging: Staging, publisher: Publisher, evictor: Evictor, store: StateStore,
        clock: AgentClock, logger: Logger
    ) {
        self.fetcher = fetcher
        self.staging = staging
        self.publisher = publisher
        self.evictor = evictor
        self.store = store
        self.clock = clock
        self.logger = logger
        (inbox, mailbox) = AsyncStream.makeStream()
    }

    /// The time as the loop counts it.
    package var now: Timestamp { clock.now }

    /// Takes note of something that happened outside.
    package func post(_ event: Reconciler.Event) {
        mailbox.yield(.event(event))
    }

    /// What there is to tell at the moment.
    package func status() async -> StatusReport {
        await ask(\.status) ?? StatusReport(state: .stopped)
    }

    /// What goes and what stays: of one icon, or of all that no list names.
    package func evictionReport(on url: String? = nil) async -> EvictionReport? {
        guard var report = await ask({ [clock] in $0.evictionReport(on: url, now: clock.now) }) else { return nil }
        report.leases = await evictor.leases(on: Set(report.icons.compactMap(\.generation)).sorted())
        return report
    }

    /// Everything known of one URL; `nil` if it is unknown.
    package func report(on url: String) async -> IconReport? {
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
            for await _ in changes() where await ask(isDone) ?? true { return }
        }
    }

    /// An element whenever something may have changed that the status tells; ends with the loop.
    ///
    /// Elements that are not taken become one.
    package func changes() -> AsyncStream<Void> {
        let (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        if case .terminated = mailbox.yield(.watch(change)) { change.finish() }
        return changes
    }

    /// Runs until its task is cancelled or, if asked to, until nothing is left to do now.
    ///
    /// At the end no download is begun any more, those under way are given up, and what was downloaded is published.
    ///
    /// - Returns: The state at the end.
    package func run(_ plan: Reconciler, untilSettled: Bool) async -> StatusReport {
        // A stream ends for a task that is cancelled, and with it what is still to come through it.
        let work = Task {
            let (chores, desk) = AsyncStream.makeStream(of: Reconciler.Action.self)
            async let housekeeping: Void = keepHouse(chores)
            let report = await decide(plan, untilSettled: untilSettled, desk: desk)
            desk.finish()
            await housekeeping
            return report
        }
        return await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            mailbox.yield(.event(.stopping))
        }
    }

    private func decide(
        _ plan: consuming Reconciler, untilSettled: Bool, desk: AsyncStream<Reconciler.Action>.Continuation
    ) async -> StatusReport {
        var plan = plan
        var downloads: [String: Task<Void, Never>] = [:]
        var watchers: [AsyncStream<Void>.Continuation] = []
        var sleep = SleepMeter()
        var alarm = Alarm(clock: clock) { [mailbox] in mailbox.yield(.alarm) }
        alarm.set(plan.nextWake)
        for await message in inbox {
            let event: Reconciler.Event
            switch message {
            case .question(let answer):
                answer(plan)
                continue
            case .watch(let change):
                change.yield()
                watchers.append(change)
                continue
            case .alarm:
                alarm.rang()
                event = .tick
            case .event(let happened):
                event = happened
            }
            if case .fetched(let url, let outcome, _, _) = event {
                downloads[url] = nil
                log(plan.judged(outcome, of: url), of: url)
            }
            if case .published(let result) = event { log(result) }
            let doubt = plan.unavailable
            var actions: [Reconciler.Action] = []
            if let time = sleep.read() {
                logger.info("the system slept", metadata: ["time": "\(DurationText.format(time))"])
                actions = plan.handle(.slept(time), now: clock.now)
            }
            actions += plan.handle(event, now: clock.now)
            for action in actions {
                switch action {
                case .fetch(let request):
                    logger.debug(
                        "icon requested",
                        metadata: ["url": "\(LogURL(request.url))", "reason": "\(request.reason.rawValue)"])
                    downloads[request.url] = start(action)
                case .cancel(let url): downloads[url]?.cancel()
                case .publish, .release, .remove, .measureSpace: _ = start(action)
                case .discard, .discardPartials, .remember: desk.yield(action)
                }
            }
            if case .scanned(.listed) = event, plan.unavailable != doubt { logDoubt(plan.unavailable) }
            watchers.removeAll { if case .terminated = $0.yield() { true } else { false } }
            if plan.isSettled, untilSettled || plan.isStopping { break }
            alarm.set(plan.nextWake)
        }
        desk.yield(.remember(plan.takeMemoChanges()))
        mailbox.finish()
        let report = plan.status
        for watcher in watchers { watcher.finish() }
        for await message in inbox {
            switch message {
            case .question(let answer): answer(nil)
            case .watch(let change): change.finish()
            case .event, .alarm: break
            }
        }
        return report
    }

    /// Starts what takes its time; the plan waits for the event with which it ends.
    private func start(_ action: Reconciler.Action) -> Task<Void, Never> {
        Task { [fetcher, staging, publisher, evictor] in
            switch action {
            case .fetch(let request):
                let end = await fetcher.fetch(request)
                post(.fetched(url: request.url, end.outcome, trail: end.trail, isMultiplexed: end.isMultiplexed))
            case .publish(let publication): post(.published(await publisher.publish(publication)))
            case .release(let generations): post(.released(await evictor.release(generations)))
            case .remove(let plan): post(.removed(failed: await evictor.remove(plan)))
            case .measureSpace(let trial): post(.space(await staging.measure(trial: trial)))
            case .cancel, .discard, .discardPartials, .remember:
                preconditionFailure("nothing waits for this to end")
            }
        }
    }

    /// Does what nothing waits for, one thing after the other.
    private func keepHouse(_ chores: AsyncStream<Reconciler.Action>) async {
        var unstored = MemoChanges()
        for await chore in chores {
            switch chore {
            case .discard(let names): await staging.discard(names)
            case .discardPartials(let urls): await staging.discardPartials(of: urls)
            case .remember(let changes): await store(changes, after: &unstored)
            case .fetch, .cancel, .publish, .release, .remove, .measureSpace: break
            }
        }
    }

    /// Logs that a folder which could be listed is not taken for that of the lists, or is again.
    private func logDoubt(_ reason: String?) {
        guard let reason else { return logger.notice("the lists folder is taken for what it says") }
        logger.warning("the lists folder is in doubt: all lists stay as they were", metadata: ["reason": "\(reason)"])
    }

    private func log(_ result: PublicationResult) {
        switch result {
        case .published(_, _, nil): break
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

    private func log(_ outcome: FetchOutcome, of url: String) {
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
                metadata: ["url": "\(LogURL(url))", "code": "\(Shortage.code)", "reason": "\(shortage.reason)"])
        case .notModified, .cancelled: break
        }
    }
}
