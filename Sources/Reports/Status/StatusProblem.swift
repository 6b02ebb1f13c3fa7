// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import HTTPRules

/// Something that needs a user's attention, and the command to type next.
///
/// Derived from a ``StatusReport`` alone, so that the commands, the dashboard and the JSON agree.
package struct StatusProblem: Encodable, Equatable, Sendable {
    package enum Severity: String, CaseIterable, Encodable, Sendable {
        /// Work that the lists ask for was not done, or is in doubt: `status` exits with 1.
        case problem
        /// A notice: nothing is wrong.
        case notice
    }

    /// A stable word: the code of a failed icon or list, or one of ``Code``, which the article Operation explains.
    package var code: String
    package var severity = Severity.problem
    /// How many icons or lists are affected; 1 for other problems.
    package var count = 1
    /// What is wrong, as a sentence without its full stop.
    package var sentence: String
    /// The cause, as the system or the server reports it.
    package var detail: String?
    /// The URL of one affected icon, or the name of one affected list.
    package var example: String?
    /// The shell commands to type next, quoted.
    package var commands: [String] = []
    /// The subject of the code, if it is of failed icons or lists; not encoded.
    package var subject: CodeExplanation.Subject?
    /// What to do, as sentences; `nil` if the cause or the commands say it.
    ///
    /// Not encoded.
    package var remedy: String?

    private enum CodingKeys: CodingKey {
        case code, severity, count, sentence, detail, example, commands
    }
}

extension StatusReport {
    /// All problems, the most urgent first, then the notices.
    package var problems: [StatusProblem] { problems(for: CommandContext()) }

    package func problems(for context: CommandContext) -> [StatusProblem] {
        let all: [[StatusProblem?]] = [
            [agentProblem(context)], storageProblems(context), [loginProblem], listProblems, iconProblems,
            upstreamProblems, [restartNotice(context), failedUpstreamNotice, unlistedNotice], notices,
        ]
        return [StatusProblem.Severity.problem, .notice].flatMap { severity in
            all.joined().compactMap { $0?.severity == severity ? $0.map(context.completed) : nil }
        }
    }

    // MARK: The agent

    private func agentProblem(_ context: CommandContext) -> StatusProblem? {
        switch state {
        case .unknown:
            StatusProblem(
                .agentUnknown, sentence: "this user cannot see whether an agent is running",
                commands: ["sudo syncagent status"])
        case .running where !reachable && !context.isClosed:
            StatusProblem(
                .agentUnreachable,
                sentence: "the agent is running, but does not respond; this status is read from disk",
                detail: "it is starting, hangs, or has another socket: restart it, or name the socket with --socket")
        case .running where !reachable:
            StatusProblem(
                .agentUnreachable, severity: .notice,
                sentence: "the agent is running, but this user cannot reach it; this status is read from disk",
                commands: ["sudo syncagent status"])
        case .paused:
            StatusProblem(
                .paused, severity: downloads.blocked > 0 ? .problem : .notice, count: max(downloads.blocked, 1),
                sentence: "downloads are paused: "
                    + (downloads.blocked > 0 ? waiting(downloads.blocked) : "no icon is refreshed"),
                detail: Downloads.text(of: downloads.pauses), commands: ["syncagent resume"])
        case .stopped where !downloads.pauses.isEmpty:
            StatusProblem(
                .paused, severity: .notice, sentence: "downloads stay paused when the agent starts",
                detail: Downloads.text(of: downloads.pauses))
        case .running, .stopped: nil
        }
    }

    func waiting(_ icons: Int) -> String { "\(counted(icons, "icon")) \(icons == 1 ? "is" : "are") pending" }

    // MARK: Disk and cache

    private func storageProblems(_ context: CommandContext) -> [StatusProblem?] {
        let listening = listeners.map { listener in
            listener.error.map { error in
                let isFile = listener.name == "textfile"
                return StatusProblem(
                    isFile ? .metricsNotWritten : .notListening,
                    sentence: isFile
                        ? "metrics.textfile is not written" : "\(listener.name) cannot listen at \(listener.address)",
                    detail: error, commands: ["syncagent config"])
            }
        }
        let state: [StatusProblem?] = [
            storage.error.map {
                StatusProblem(
                    .stateNotStored,
                    sentence: "the state cannot be stored: a restart forgets retry times, validators and the pause",
                    detail: $0, commands: ["df -h"])
            },
            storage.damaged.map {
                StatusProblem(
                    .stateDamaged,
                    sentence: "the state database was damaged: a pause, retry times and validators may be lost",
                    detail: "it is set aside, and a new one is in use: check the disk, then remove \($0)",
                    commands: ["sudo rm \(ShellWord.quoted($0))"])
            },
            storage.events.map {
                StatusProblem(
                    .eventsNotWritten, sentence: "events cannot be written: event readers get a gap", detail: $0)
            },
        ]
        return [shortage, publicationProblem(context)] + state + listening
            + [renditionProblem, configurationProblem(context), evictionProblem(context)]
    }

    private var shortage: StatusProblem? {
        guard let reason = downloads.shortage else { return nil }
        let isDisk = downloads.code != StatusProblem.Code.outOfResources.rawValue
        return StatusProblem(
            code: downloads.code ?? StatusProblem.Code.diskFull.rawValue, count: max(downloads.blocked, 1),
            sentence: (isDisk ? "there is no room for new images" : "the agent has reached a limit")
                + (downloads.blocked > 0 ? ": \(waiting(downloads.blocked))" : ""),
            detail: reason, commands: isDisk ? ["df -h", "syncagent evict --dry-run"] : [])
    }

    private func publicationProblem(_ context: CommandContext) -> StatusProblem? {
        guard let error = publication.error else { return nil }
        guard reachable, state != .stopped else {
            return StatusProblem(
                .manifestUnreadable, sentence: "the published manifest cannot be read", detail: error,
                commands: ["syncagent verify"])
        }
        // Downloads wait, too.
        let pending = downloads.shortage != downloads.reason && downloads.blocked > 0 ? downloads.blocked : nil
        return StatusProblem(
            .publicationFailed,
            sentence: "the cache cannot be written" + (pending.map { ": \(waiting($0))" } ?? ""), detail: error,
            commands: context.cache.map { cache in
                ["df -h \(ShellWord.quoted(cache))", "ls -ld \(ShellWord.quoted(Self.folder(in: error, of: cache)))"]
            } ?? [])
    }

    /// The folder of the cache to which an error says that nothing can be written, or else the cache folder.
    private static func folder(in error: String, of cache: String) -> String {
        let words = "Cannot write to "
        guard error.starts(withBytes: words + cache + "/"), let end = error.utf8.lastIndex(of: UInt8(ascii: ":"))
        else { return cache }
        return String(decoding: error.utf8[..<end].dropFirst(words.utf8.count), as: UTF8.self)
    }

    private var renditionProblem: StatusProblem? {
        guard let renditions, let error = renditions.error else { return nil }
        let verb = renditions.pending == 1 ? "is" : "are"
        return StatusProblem(
            .notRendered, severity: mayTakeRenditions ? .notice : .problem, count: max(renditions.pending, 1),
            sentence: renditions.pending > 0
                ? "\(counted(renditions.pending, "image")) \(verb) not rendered in the sizes of render.sizes"
                : "renditions cannot be found by their names",
            detail: error)
    }

    private func evictionProblem(_ context: CommandContext) -> StatusProblem? {
        switch eviction.state.known {
        case .held:
            return StatusProblem(
                .evictionHeld, sentence: "an eviction waits for confirmation",
                detail: (eviction.reason.map { $0 + ". " } ?? "")
                    + "If the change was a mistake, put the lists back: the images are still there",
                commands: ["syncagent evict --dry-run"])
        case .suspended:
            let folder = context.lists.flatMap { eviction.reason?.contains(bytes: $0) == true ? $0 : nil }
            return StatusProblem(
                .evictionSuspended, sentence: "nothing is evicted, because the lists cannot be read",
                detail: eviction.reason,
                commands: (folder.map { ["ls -ld \(ShellWord.quoted($0))"] } ?? [])
                    + (state == .stopped ? [] : ["syncagent sync --wait"]))
        case .active, .unknown, nil: return nil
        }
    }

    private func configurationProblem(_ context: CommandContext) -> StatusProblem? {
        guard let error = configuration.error else { return nil }
        let check = "syncagent config check" + (context.file.map { " " + ShellWord.quoted($0) } ?? "")
        let reload = context.isSystem ? "systemctl reload syncagent" : "syncagent reload"
        return StatusProblem(
            .configurationRejected,
            sentence: !reachable
                ? "the configuration file has errors; this output uses defaults for the invalid settings"
                : "the new configuration is rejected; the previous settings stay in force",
            detail: error, commands: [check] + (!reachable ? [] : [reload]))
    }

    private func restartNotice(_ context: CommandContext) -> StatusProblem? {
        let keys = configuration.needRestart
        guard !keys.isEmpty else { return nil }
        return StatusProblem(
            .settingsNeedRestart, severity: .notice, count: keys.count,
            sentence: "\(counted(keys.count, "changed setting")) \(keys.count == 1 ? "needs" : "need") a restart",
            detail: keys.joined(separator: ", "), commands: context.isSystem ? ["systemctl restart syncagent"] : [])
    }

    // MARK: Lists and icons

    /// The icons for which a network's login page answered: one problem for all of them, because the cause is not
    /// theirs.
    private var loginProblem: StatusProblem? {
        guard let failure = failures.first(where: { $0.code == StatusProblem.Code.networkLogin.rawValue }),
            case let icons = failure.unmuted, icons > 0
        else { return nil }
        let isRetried = state == .running && reachable
        return StatusProblem(
            .networkLogin, count: icons,
            sentence: "all servers answer alike, as the login page of a network does: "
                + "\(counted(icons, "icon")) \(icons == 1 ? "waits" : "wait") for a login",
            detail: "log in to the network with a browser"
                + (isRetried ? ": the icons follow then; a few are requested again each minute, for an hour" : ""),
            example: failure.example.text,
            commands: [isRetried ? "syncagent retry --failed" : Self.command(for: failure.example, in: failure.list)])
    }

    private var listProblems: [StatusProblem] {
        [List.State.rejected, .lastGood].flatMap { state -> [StatusProblem] in
            let byCode = Dictionary(grouping: lists.filter { $0.state == state && $0.isProblem }, by: \.code)
            return byCode.sorted { $0.key ?? "" < $1.key ?? "" }.map { code, lists in
                let first = lists[0]
                let subject = lists.count == 1 ? "the list \(first.name) is" : "\(counted(lists.count, "list")) are"
                let effect = state == .rejected ? "not accepted" : "not accepted now; the last good version stays"
                return StatusProblem(
                    code: code ?? "list-\(state.rawValue)", count: lists.count, sentence: "\(subject) \(effect)",
                    detail: first.error, example: first.name.text,
                    commands: ["syncagent list \(ShellWord.list(first.name))"], subject: .list)
            }
        }
    }

    private var iconProblems: [StatusProblem] {
        let own = failures.filter { $0.code != StatusProblem.Code.networkLogin.rawValue && $0.unmuted > 0 }
        var problems: [StatusProblem] = own.map { failure in
            // A message with advice on an address is more specific than the code's remedy.
            let isAdvised = AddressAdvice.find(in: failure.message) != nil
            return StatusProblem(
                code: failure.code, count: failure.unmuted, sentence: "\(counted(failure.unmuted, "icon")) failed",
                detail: failure.message, example: failure.example.text,
                commands: [Self.command(for: failure.example, in: failure.list)], subject: .icon,
                remedy: isAdvised
                    ? nil : CodeExplanation.explanations(of: failure.code).first { $0.subject == .icon }?.remedy)
        }
        if downloads.blocked > 0, state != .paused, downloads.reason == nil {
            let origin = downloads.origins.first
            problems.append(
                StatusProblem(
                    .originWaiting, count: downloads.blocked,
                    sentence: "\(waiting(downloads.blocked)), because a server failed or asked to wait",
                    detail: origin.map { "no request to \($0.name) until \($0.until)" }, example: origin?.name,
                    commands: ["syncagent retry --failed"]))
        }
        return problems
    }

    /// The apps of ignored entries that keep their last icon, as a clause; `nil` if there are none.
    private static func kept(in lists: [List]) -> String? {
        let apps = lists.reduce(0) { $0 + ($1.kept?.apps ?? 0) }
        guard apps > 0 else { return nil }
        let names = lists.flatMap { $0.kept?.examples ?? [] }.prefix(List.Kept.mostExamples)
        let more = apps > names.count ? " and \(grouped(apps - names.count)) more" : ""
        return "\(counted(apps, "app")) \(apps == 1 ? "keeps its" : "keep their") last icon: "
            + names.joined(separator: ", ") + more
    }

    static func command(for icon: IconURL, in list: ListName?) -> String {
        if let icon = ShellWord.icon(icon) { return "syncagent why \(icon)" }
        return list.map { "syncagent list \(ShellWord.list($0))" } ?? "syncagent list"
    }

    // MARK: Notices

    private var notices: [StatusProblem?] {
        var notices: [StatusProblem] = []
        let count = icons.previous
        if count > 0 {
            let (verb, image) = count == 1 ? ("shows", "its new one is") : ("show", "their new ones are")
            notices.append(
                StatusProblem(
                    .previousImage, severity: .notice, count: count,
                    sentence: "\(counted(count, "icon")) \(verb) \(count == 1 ? "its" : "their") previous image: "
                        + "\(image) not on disk yet",
                    detail: icons.previousSince.map {
                        "\(count == 1 ? "its app has" : "the first of their apps has") had another URL since \($0)"
                    },
                    example: icons.previousExample?.text,
                    commands: icons.previousExample.map { [Self.command(for: $0, in: icons.previousList)] } ?? []))
        }
        if unmutedStale > 0 {
            let causes = refreshFailures.filter { $0.unmuted > 0 }
            let others = causes.dropFirst().map(\.code).joined(separator: ", ")
            notices.append(
                StatusProblem(
                    .stale, severity: .notice, count: unmutedStale,
                    sentence: "\(counted(unmutedStale, "icon")) could not be refreshed; the old image stays",
                    detail: causes.first.map {
                        "\($0.message) [\($0.code)]" + (others.isEmpty ? "" : "; others failed with \(others)")
                    }, example: causes.first?.example.text,
                    commands: causes.first.map { [Self.command(for: $0.example, in: $0.list)] } ?? []))
        }
        let flawed = lists.filter { $0.problems > 0 && $0.state == .ok }
        if let first = flawed.first(where: { $0.kept != nil }) ?? flawed.first {
            // Of an entry whose name is too long, only the name is ignored.
            let parts = flawed.reduce(0) { $0 + $1.problems }
            notices.append(
                StatusProblem(
                    .entriesIgnored, severity: .notice, count: parts,
                    sentence: "\(counted(parts, "entry or value", plural: "entries or values")) of "
                        + "\(counted(flawed.count, "list")) \(parts == 1 ? "is" : "are") ignored",
                    detail: Self.kept(in: flawed), example: first.name.text,
                    commands: ["syncagent list \(ShellWord.list(first.name))"]))
        }
        let copies = lists.filter { $0.name.isConflictCopy }
        if let first = copies.first {
            let count = copies.count
            let names = copies.prefix(10).map(\.name.description).joined(separator: ", ")
            notices.append(
                StatusProblem(
                    .conflictCopy, severity: .notice, count: count,
                    sentence: (count == 1 ? "the list \(first.name) looks" : "\(count) lists look")
                        + " like a copy that a synchronizer kept: its apps may be there twice",
                    detail: "move what is missing to the original list, then delete the copy"
                        + (count == 1 ? "" : ": " + names) + (count > 10 ? " and \(count - 10) more" : ""),
                    example: first.name.text, commands: ["syncagent list \(ShellWord.list(first.name))"]))
        }
        if watch.mode == .polling {
            notices.append(
                StatusProblem(
                    .watchPolling, severity: .notice,
                    sentence: "the lists folder is polled: changes are noticed within about 2 s", detail: watch.reason))
        }
        let leases = eviction.leases.map {
            StatusProblem(
                .leasesUnseen, severity: .notice,
                sentence: "reader leases may go undetected: only the grace period protects images in use", detail: $0)
        }
        return notices + [leases, mutedNotice]
    }

    private var mutedNotice: StatusProblem? {
        guard let muted, muted > 0 else { return nil }
        let rejected = lists.count { $0.state != .ok && !$0.isProblem }
        let failures = Self.muted(in: failures) + Self.muted(in: refreshFailures) + rejected
        return StatusProblem(
            .muted, severity: .notice, count: muted,
            sentence: "\(counted(muted, "URL or list", plural: "URLs and lists")) \(muted == 1 ? "is" : "are") muted"
                + (failures == 0
                    ? "" : ": \(counted(failures, "failure")) \(failures == 1 ? "does" : "do") not count"),
            commands: ["syncagent mute"])
    }
}
