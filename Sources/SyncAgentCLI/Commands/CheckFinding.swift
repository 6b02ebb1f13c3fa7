// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import HTTPRules
import ImageChecks
import Reports
import SyncAgent
import SystemPackage

struct CheckFinding {
    /// The argument that stands for standard input.
    static let input = "-"

    /// The file's path as on the command line.
    let file: String
    let verdict: ListVerdict
    /// The icons that are refused before any request, with the reasons.
    private(set) var refused: [Failure] = []
    /// Completes messages about settings with the path of the configuration file.
    private let context: CommandContext
    var isMissing = false
    /// Whether findings with the same cause are shown one by one.
    var showsAll = false
    /// The most findings with the same cause that are shown, unless ``showsAll``.
    private static let mostExamples = 3
    private static let missing = "There is no such file."
    /// The results of `--fetch`.
    var trials: [(icon: IconURL, outcome: FetchOutcome)] = []
    private let keys: CacheKeys

    typealias Failure = (icon: IconURL, code: String, message: String)

    init(file: String, verdict: ListVerdict, settings: Settings, _ context: CommandContext) {
        (self.file, self.verdict, self.context) = (file, verdict, context)
        keys = settings.keys
        let inspector = ImageInspector(limits: ImageLimits(settings.images))
        for entry in (try? verdict.get())?.entries ?? [] {
            do throws(FetchFailure) {
                switch try settings.network.source(of: entry.icon) {
                case .inline(let url): _ = try url.image(upTo: settings.fetch.maxBytes, inspector)
                case .server(let target):
                    if let refusal = settings.network.addresses(for: target.host).refusal(ofHost: target.host) {
                        throw FetchFailure.address(refusal, of: target.host)
                    }
                }
            } catch {
                refused.append((entry.icon, error.code.rawValue, error.message))
            }
        }
    }

    var isAcceptable: Bool { (try? verdict.get()) != nil }

    /// Whether the file's name or an entry is ignored, or an icon will fail whatever the server answers.
    var isFlawed: Bool { !hasListName || !refused.isEmpty || (try? verdict.get())?.unusable.isEmpty == false }

    var hasFailedIcons: Bool { !refused.isEmpty || !failed.isEmpty || !wrongKeys.isEmpty }

    /// The icons whose trial download brought no image.
    private var failed: [Failure] {
        trials.compactMap { icon, outcome in Self.error(of: outcome).map { (icon, $0.code, $0.message) } }
    }

    /// The cache keys whose URLs brought different images, each with the number of its URLs and of their images.
    private var wrongKeys: [(key: IconURL, urls: Int, images: Int)] {
        var groups: [IconURL: (urls: Int, images: Set<Digest>)] = [:]
        for trial in trials {
            guard case .image(let image, _) = trial.outcome, let key = keys.key(of: trial.icon) else { continue }
            groups[key, default: (0, [])].urls += 1
            groups[key]?.images.insert(image.image.sha256)
        }
        return groups.filter { $0.value.images.count > 1 }
            .map { ($0.key, $0.value.urls, $0.value.images.count) }.sorted { $0.key < $1.key }
    }

    private var hasListName: Bool {
        file == Self.input || ListName(FilePath(file).lastComponent?.string ?? "").isAppList
    }

    private var shownFile: String { file == Self.input ? "standard input" : file }

    /// The verdict as text, followed by one item for each problem.
    func lines(fitting width: Int?) -> [StyledText] {
        switch verdict {
        case .failure where isMissing:
            let reason = "\(Self.missing)\(Suggestion.file(for: FilePath(file)))"
            return (StyledText("\(file): ", .red) + StyledText(reason)).wrapped(to: width)
        case .failure(let rejection):
            let reason = "\(rejection.message) [\(rejection.code)]"
            return (StyledText("\(shownFile): not acceptable: ", .red) + StyledText(reason)).wrapped(to: width)
        case .success(let list):
            let head =
                StyledText("\(shownFile): ") + StyledText("acceptable", .green)
                + StyledText(", \(contents(of: list))") + StyledText(failing(in: list), .red)
            return head.wrapped(to: width) + causes(in: list, fitting: width)
        }
    }

    /// The number of icons that cannot be ready, for the verdict: `; 300 of 300 icons will fail`.
    private func failing(in list: AppList) -> String {
        let failed = Set(refused.map(\.icon)).count + failed.count
        let icons = Set(list.entries.map(\.icon)).count
        let verb = trials.isEmpty ? "will fail" : "failed"
        return failed == 0 ? "" : "; \(grouped(failed)) of \(counted(icons, "icon")) \(verb)"
    }

    /// The problems of the list, its icons and its name, grouped by cause.
    private func causes(in list: AppList, fitting width: Int?) -> [StyledText] {
        var lines: [StyledText] = []
        func add(_ text: StyledText, at places: [String] = []) {
            lines += text.item(fitting: width)
            guard places.count > 1 else { return }
            lines += places.prefix(Self.mostExamples).map { StyledText("    " + $0) }
            let left = places.count - Self.mostExamples
            if left > 0 { lines.append(StyledText("    … and \(grouped(left)) more: see --all", .dim)) }
        }
        let unusable = Dictionary(list.unusable.map { (Array($0.keyPath.utf8), $0.name) }) { first, _ in first }
        for group in byCause(list.problems, \.reason) {
            let places = group.map { Self.named(unusable[Array($0.keyPath.utf8)] ?? nil, $0.keyPath) }
            let place = group.count == 1 ? places[0] : counted(group.count, "entry", plural: "entries")
            add(StyledText("ignored: \(place): \(group[0].reason)", .yellow), at: places)
        }
        let apps = Dictionary(list.entries.map { ($0.icon, $0.name) }) { first, _ in first }
        func place(of icon: IconURL) -> String { Self.named(apps[icon] ?? nil, shown(icon)) }
        var given: Set<AddressAdvice> = []
        /// Adds failures, one item for each code and host.
        func addFailures(_ label: String, _ failures: [Failure], by host: Bool) {
            for group in byCause(failures, { "\($0.code) \(Self.host(of: $0.icon) ?? "")" }) {
                var messages: Set<[UInt8]> = []
                // If messages differ, the first icon of each comes before the others.
                let marked = group.map { (failure: $0, isFirst: messages.insert(Array($0.message.utf8)).inserted) }
                let ordered = (marked.filter(\.isFirst) + marked.filter { !$0.isFirst }).map(\.failure)
                let (first, isSame) = (group[0], messages.count == 1)
                let cause = isSame ? ": " + message(first.message, &given) : ""
                let name = host ? Self.host(of: first.icon).map { " of \($0)" } ?? "" : ""
                let head = group.count == 1 ? place(of: first.icon) : counted(group.count, "icon") + name
                let each = ordered.map { place(of: $0.icon) + (isSame ? "" : ": \($0.message)") }
                add(StyledText(label, .red) + StyledText("\(head)\(cause) [\(first.code)]"), at: each)
            }
        }
        addFailures("will fail: ", refused, by: false)
        let doubtful = list.entries.compactMap { entry in
            URLWrapping.end(of: entry.icon).map { (icon: entry.icon, end: $0) }
        }
        for group in byCause(doubtful, \.end) {
            let places = group.map { place(of: $0.icon) }
            let head = group.count == 1 ? places[0] : counted(group.count, "icon")
            let cause = "\(head): ends in \(group[0].end), which is a part of the URL"
            add(StyledText("doubtful: ", .yellow) + StyledText(cause), at: places)
        }
        let fine = trials.compactMap { icon, outcome -> String? in
            guard case .image(let download, _) = outcome else { return nil }
            let image = download.image
            let size = "\(image.width)x\(image.height), \(ByteCount(image.bytes).rounded)"
            return "\(place(of: icon)): \(image.type), \(size)"
        }
        for text in showsAll || fine.count <= Self.mostExamples ? fine : [counted(fine.count, "icon")] {
            add(StyledText("ok: ", .green) + StyledText(text))
        }
        addFailures("failed: ", failed, by: true)
        for (key, urls, images) in wrongKeys {
            let found = "\(counted(urls, "URL")) with the key \(shown(key)) returned \(grouped(images)) images"
            add(StyledText("wrong key: ", .red) + StyledText("\(found): fix [[keys]]"))
        }
        if !hasListName { add(StyledText(ListName.ignored)) }
        return lines
    }

    /// An app with its place, such as a URL; just the place if it has no name.
    private static func named(_ app: String?, _ place: String) -> String {
        app.flatMap { $0.utf8.isEmpty ? nil : "\($0.prefix(bytes: 100)) (\(place))" } ?? place
    }

    private static func host(of icon: IconURL) -> String? { (try? FetchTarget(icon.text))?.host }

    /// Groups findings by cause, in the order of the first finding of each cause.
    private func byCause<Finding>(_ findings: [Finding], _ cause: (Finding) -> String) -> [[Finding]] {
        guard !showsAll else { return findings.map { [$0] } }
        let groups = Dictionary(grouping: findings.indices) { Array(cause(findings[$0]).utf8) }
        return groups.values.sorted { $0[0] < $1[0] }.map { group in group.map { findings[$0] } }
    }

    private func contents(of list: AppList) -> String {
        guard let images = list.images else { return counted(list.entries.count, "app") }
        return "names \(counted(images.count, "image")) of lists.iconBaseURL: no others are requested from there"
    }

    /// A failure's message; the advice in it is given only for the first icon.
    private func message(_ message: String, _ given: inout Set<AddressAdvice>) -> String {
        guard let (cause, advice, _) = AddressAdvice.find(in: message), !given.insert(advice).inserted else {
            return context.explained(message)
        }
        return cause
    }

    /// Why a trial brought no image; `nil` if it did.
    private static func error(of outcome: FetchOutcome) -> (code: String, message: String)? {
        switch outcome {
        case .image: nil
        case .failed(let failure): (failure.code.rawValue, failure.message)
        case .noRoom(let shortage): (shortage.code.rawValue, shortage.reason)
        case .notModified, .cancelled: ("cancelled", "not tried")
        }
    }

    var json: JSON {
        switch verdict {
        case .failure(let rejection):
            return [
                "file": .string(file), "acceptable": false,
                "error": Self.json(of: (rejection.code.rawValue, isMissing ? Self.missing : rejection.message)),
            ]
        case .success(let list):
            let problems: [JSON] = list.problems.map { problem in
                ["keyPath": .string(problem.keyPath), "reason": .string(problem.reason)]
            }
            let refused: [JSON] = refused.map { icon, code, message in
                ["icon": .string(shown(icon)), "code": .string(code), "message": .string(message)]
            }
            var members: [(key: String, value: JSON)] = [
                ("file", .string(file)), ("acceptable", true), ("apps", .number(list.entries.count)),
                ("problems", .array(problems)), ("refused", .array(refused)), ("isListName", .bool(hasListName)),
            ]
            if let images = list.images { members.append(("images", .number(images.count))) }
            if !trials.isEmpty {
                members.append(("fetched", .array(trials.map { Self.json(of: $0.icon, $0.outcome) })))
            }
            if !wrongKeys.isEmpty {
                let wrong = wrongKeys.map { key, urls, images -> JSON in
                    ["key": .string(shown(key)), "urls": .number(urls), "images": .number(images)]
                }
                members.append(("wrongKeys", .array(wrong)))
            }
            return .object(members)
        }
    }

    private static func json(of icon: IconURL, _ outcome: FetchOutcome) -> JSON {
        let error = error(of: outcome).map(json) ?? .null
        guard case .image(let download, _) = outcome else { return ["icon": .string(shown(icon)), "error": error] }
        let image = download.image
        return [
            "icon": .string(shown(icon)), "type": .string(image.type), "width": .number(image.width),
            "height": .number(image.height), "bytes": .number(image.bytes), "sha256": .string(image.sha256.hex),
            "error": error,
        ]
    }

    private static func json(of error: (code: String, message: String)) -> JSON {
        ["code": .string(error.code), "message": .string(error.message)]
    }
}
