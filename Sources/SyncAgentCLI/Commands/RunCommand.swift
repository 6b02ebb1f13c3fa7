// SPDX-License-Identifier: Apache-2.0
import AgentServer
import AgentSettings
import AppLists
import ArgumentParser
import CLinux
import Glibc
import IconCache
import Logging
import Reports
import SyncAgent
import SystemPackage
import UnixSignals

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run the agent in the foreground.",
        usage: "syncagent run [--once] [--allow-network <cidr> ...] [options]",
        discussion: """
            SIGTERM and SIGINT stop it, and so does closing its terminal; SIGHUP reloads the configuration and rescans the \
            lists folder. It refuses to run as \
            root unless you confirm that with --allow-root.

            Examples:
              syncagent run
              syncagent run --once --allow-network 10.0.0.0/8

            Exit codes: 1 with --once, an icon failed or a list was not accepted, unless it is muted, an icon could not \
            be downloaded, or nothing could be published or rendered; 73 a folder cannot be created or written; 75 \
            another agent holds the cache; 78 the configuration is wrong, or the user is root.
            """)

    @Flag(help: "Sync once, then exit.")
    var once = false

    @Option(
        help: ArgumentHelp("Allow requests to this network although it is not public; repeatable.", valueName: "cidr"),
        transform: Self.network)
    var allowNetwork: [AddressRange] = []

    @Option(
        help: ArgumentHelp("Log level: \(Self.levels).", valueName: "level"),
        completion: .list(Logger.Level.allCases.map(\.rawValue)), transform: Self.level)
    var logLevel: Logger.Level = .info

    @Option(help: ArgumentHelp("The layout of log lines.", valueName: "layout"))
    var logFormat: LogLayout = .plain

    @Flag(help: "Run as root. A bug in the agent then has the rights of root.")
    var allowRoot = false

    @OptionGroup var output: OutputOptions
    @OptionGroup var configuration: Configuration

    private static let levels = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")

    func run() async throws {
        if geteuid() == 0, !allowRoot {
            throw Exit.because(
                "The agent does not run as root: it reads files and web servers that others control. Run it as a user of "
                    + "its own (User= in its systemd unit, or setpriv --reuid), or confirm with --allow-root.",
                code: .badConfiguration)
        }
        guard canStart(threads: once ? Self.leastThreads.once : Self.leastThreads.always) else {
            // That may pass: a service is started again.
            throw Exit.because(
                "Too few threads can be started. Raise TasksMax= in the unit, the limit on processes of the container, or "
                    + "ulimit -u in the shell.")
        }
        let display = SyncProgressDisplay(on: output.messages)
        try await runAgent(progress: once && display.display.isLive ? display : nil)
    }

    private func runAgent(progress: SyncProgressDisplay?) async throws {
        let place = try configuration.place(toRun: true)
        let folders = place.folders
        Configuration.warnOfUnknownVariables()
        let configured: RunSettings
        do throws(ConfigurationError) {
            configured = try RunSettings(configuration, place, allowing: allowNetwork)
        } catch {
            throw Configuration.exit(because: error.problems)
        }
        let settings = configured.settings
        let access = try Exit.with(.badConfiguration) { try SocketAccess(settings) }
        let helpers = try Agent.Helpers.installed()
        signal(SIGPIPE, SIG_IGN)
        // Two malloc arenas: with one per thread, memory freed in one is useless to others.
        mallopt(M_ARENA_MAX, 2)
        // Return large blocks to the system at once; by default glibc raises this threshold when one is freed.
        mallopt(M_MMAP_THRESHOLD, 4 << 20)
        let budget = try Self.descriptors(for: settings)
        ControlServer.limitThreads(to: budget.eventLoops)
        defer { LogWriter.shared.drain() }
        let logger = Logger(label: "syncagent") { [logLevel, logFormat] _ in
            LogLineHandler(logLevel: logLevel, layout: logFormat)
        }
        if let progress { LogWriter.shared.write(above: progress.display) }
        let agent = Agent(
            folders: folders, settings: settings, proxies: configured.proxies, helpers: helpers, budget: budget,
            report: configured.report(),
            readConfiguration: configured.reloader(configuration, allowing: allowNetwork),
            manager: once ? nil : ServiceManager(environment: { Variable[$0] }, logger: logger), logger: logger)
        if budget.downloads < settings.fetch.concurrency {
            logger.notice(
                "open file limit is low: fewer concurrent downloads than fetch.concurrency",
                metadata: ["downloads": "\(budget.downloads)"])
        }
        do {
            let report = try await Self.withSignals(logger, endCode: once ? .attention : .done) { [settings] in
                defer { progress?.clear() }
                let show = progress.map { display in { @Sendable report in display.show(report) } }
                return try await agent.run(once: once, progress: show, wakeUps: $0) { agent in
                    let api = API(agent: agent, logger: logger)
                    let web = WebListeners(
                        settings: settings, cache: folders.cache, clients: budget.webClients, logger: logger, api: api,
                        access: access)
                    let control = try ControlServer(
                        at: folders.socket, clients: budget.clients, logger: logger, api: api.adding([web.route]),
                        access: access)
                    folders.linkSocket()
                    return { try await control.run(with: web) }
                }
            }
            LogWriter.shared.drain()
            if once { try end(report) }
        } catch let error as FolderError {
            if once, error.isHeld, try ControlClient(socket: configuration.folders().socket).obstacle == nil {
                let sync = configuration.agentCommand("syncagent sync --wait")
                Message.error("To sync with the running agent: \(sync)")
            }
            throw Exit.because("\(error)", code: error.isHeld ? .busy : .folder)
        } catch let error as ControlServer.InUse {
            throw Exit.because("\(error)", code: .busy)
        } catch let error as FileError {
            let advice =
                switch error.errno {
                case .resourceBusy: "Another program has it open: end that program"
                default: error.isOutOfSpace ? "Make room on its file system" : "Make it accessible to the agent"
                }
            throw Exit.because("\(error). \(advice), or choose another path.", code: .folder)
        } catch let error as IconCacheError {
            throw Exit.because("\(error)", code: .folder)
        }
    }

    /// Reports the failures of a run with `--once`; throws exit code 1 if there are any.
    ///
    /// A held eviction is no failure: everything that the lists name is on disk.
    private func end(_ report: StatusReport) throws {
        let (icons, downloads) = (report.icons, report.downloads)
        func printCount(_ count: Int, _ whole: Int, _ noun: String, _ state: String, see command: String) {
            let command = configuration.command("syncagent \(command)")
            Message.error("\(grouped(count)) of \(counted(whole, noun)) \(state). See: \(command)")
        }
        for case let reason? in [report.eviction.reason, downloads.reason, report.publication.error] {
            Message.error(reason)
        }
        let rejected = report.lists.filter { $0.error != nil }
        if logLevel <= .warning, let first = rejected.first {
            // The message gives only counts: the log has the reasons.
            printCount(
                rejected.count, report.lists.count, "list", "\(rejected.count == 1 ? "is" : "are") not accepted",
                see: "list \(ShellWord.list(first.name))")
        } else {
            for list in rejected { Message.error("\(list.name): \(list.error ?? "")") }
        }
        if icons.failed > 0 {
            let lists = report.lists.filter { $0.failed > 0 }.map { ShellWord.list($0.name) }
            let next = lists.count == 1 ? "list --failed \(lists[0])" : "status"
            printCount(icons.failed, icons.referenced, "icon", "failed", see: next)
        }
        if icons.pending > 0 {
            let isOne = icons.pending == 1
            let reason =
                if report.state == .paused {
                    ": downloads are paused; start the agent, and resume"
                } else if downloads.awaitingUpstream > 0 {
                    ": no upstream has \(isOne ? "its image" : "their images")"
                } else if downloads.waiting > 0 {
                    isOne
                        ? ": a request to its server failed and is retried later"
                        : ": requests to their servers failed and are retried later"
                } else {
                    ""
                }
            let list = report.lists.first { $0.pending > 0 }?.name
            let next = report.state == .paused ? "resume" : list.map { "list \(ShellWord.list($0))" } ?? "status"
            printCount(icons.pending, icons.referenced, "icon", "pending\(reason)", see: next)
        }
        if let error = report.renditions?.error { Message.error("Images are not rendered: \(error).") }
        // While downloads are paused, stale images are not revalidated: they count as done.
        let isDone = report.inSync || report.state == .paused && icons.pending == 0 && report.publication.error == nil
        if report.hasFailures || !isDone || icons.pending > 0 { throw Exit.with(.attention) }
    }

    /// Runs the agent until it ends by itself, or is stopped by SIGTERM, SIGINT or the terminal's end.
    private static func withSignals(
        _ logger: Logger, endCode: Exit.Code,
        _ operation: @escaping @Sendable (AsyncStream<Void>) async throws -> StatusReport
    ) async throws -> StatusReport {
        let (wakeUps, wakeUp) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup)
        let hadTerminal = isatty(STDIN_FILENO) == 1
        return try await withThrowingTaskGroup(of: StatusReport?.self) { group in
            group.addTask { try await operation(wakeUps) }
            group.addTask {
                for await signal in signals {
                    // A terminal that closes sends SIGHUP like a reload; it shows in stdin, which is then no longer a
                    // terminal.
                    guard signal == .sighup, !hadTerminal || isatty(STDIN_FILENO) == 1 else {
                        StopLimit.begin(logger, code: endCode)
                        return nil
                    }
                    wakeUp.yield()
                }
                return nil
            }
            defer { group.cancelAll() }
            while let end = try await group.next() {
                if let report = end { return report }
                group.cancelAll()
            }
            throw CancellationError()
        }
    }

    /// The threads without which libraries of the agent wait for ever or end it, besides those that run at the check; its
    /// helper programs count, too.
    private static let leastThreads = (once: 10, always: 16)

    /// Raises the limit on open files to the hard limit (65,536 at most), and divides the descriptors.
    private static func descriptors(for settings: Settings) throws -> DescriptorBudget {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(resource, &limit) == 0 else { throw Errno(rawValue: errno) }
        limit.rlim_cur = min(limit.rlim_max, 65_536)
        setrlimit(resource, &limit)
        // The parent may have left descriptors open (without FD_CLOEXEC, beyond stdin, stdout and stderr). One poll(2)
        // finds the numbers that are not open.
        var files = (3..<max(3, Int32(limit.rlim_cur))).map { pollfd(fd: $0, events: 0, revents: 0) }
        poll(&files, nfds_t(files.count), 0)
        let open = files.count { file in
            guard Int32(file.revents) & POLLNVAL == 0 else { return false }
            let flags = fcntl(file.fd, F_GETFD)
            return flags >= 0 && flags & FD_CLOEXEC == 0
        }
        let available = Int(limit.rlim_cur) - open
        let budget = DescriptorBudget(
            available: available, concurrency: settings.fetch.concurrency,
            processors: max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))), addresses: WebListeners.addresses(settings))
        guard let budget else {
            throw Exit.because(
                "The open file limit is too low: the agent needs \(DescriptorBudget.least) files and may open "
                    + "\(available). Raise LimitNOFILE= in its unit, or ulimit -n in the shell.",
                code: .badConfiguration)
        }
        return budget
    }

    private static func level(_ text: String) throws -> Logger.Level {
        guard let level = Logger.Level(rawValue: text) else {
            throw ValidationError("“\(text)” is not a log level: use \(levels).")
        }
        return level
    }

    private static func network(_ text: String) throws -> AddressRange {
        guard let range = AddressRange(text) else {
            throw ValidationError("“\(text)” is not a network: write it as 10.0.0.0/8 or fd00::/8.")
        }
        return range
    }
}
