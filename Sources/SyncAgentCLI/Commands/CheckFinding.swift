// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import HTTPRules
import ImageChecks
import Reports
import SyncPlan
import SystemPackage

struct CheckFinding {
    let file: String
    let verdict: ListVerdict
    let settings: Settings
    /// Adapts messages about settings to the configuration file.
    let context: CommandContext
    var isMissing = false
    /// The results of `--fetch`.
    var trials: [(icon: IconURL, outcome: FetchOutcome)] = []

    init(file: String, verdict: ListVerdict, settings: Settings, _ context: CommandContext) {
        (self.file, self.verdict, self.settings, self.context) = (file, verdict, settings, context)
    }

    var isAcceptable: Bool { (try? verdict.get()) != nil }

    var hasFailedIcons: Bool {
        guard case .success(let list) = verdict else { return false }
        return trials.contains { if case .image = $0.outcome { false } else { true } } || !refused(in: list).isEmpty
    }

    /// The icons that are refused before any request, and why.
    func refused(in list: AppList) -> [(icon: IconURL, failure: FetchFailure)] {
        let network = settings.network
        let inspector = ImageInspector(limits: ImageLimits(settings.images))
        var refused: [(icon: IconURL, failure: FetchFailure)] = []
        for entry in list.entries {
            do throws(FetchFailure) {
                switch try network.source(of: entry.icon) {
                case .inline(let url): _ = try url.image(upTo: settings.fetch.maxBytes, inspector)
                case .server(let target):
                    // If the host is an address, it is checked without a name server.
                    if let address = IPAddress(target.host),
                        let refusal = network.addresses(for: target.host).refusal(of: address)
                    {
                        throw FetchFailure.address(refusal, of: target.host)
                    }
                }
            } catch {
                refused.append((entry.icon, error))
            }
        }
        return refused
    }

    private var hasListName: Bool { ListName(FilePath(file).lastComponent?.string ?? "").isAppList }

    /// The verdict as text, followed by one item for each problem.
    func lines(fitting width: Int?) -> [StyledText] {
        switch verdict {
        case .failure(let rejection):
            let reason =
                isMissing
                ? "There is no such file.\(Suggestion.file(for: FilePath(file)))"
                : "\(rejection.message) [\(rejection.code)]"
            return (StyledText("\(file): not acceptable: ", .red) + StyledText(reason)).wrapped(to: width)
        case .success(let list):
            var items = list.problems.map { StyledText("ignored: \($0)", .yellow) }
            var told: Set<String> = []
            items += refused(in: list).map { icon, failure in
                StyledText("will fail: ", .red)
                    + StyledText("\(shown(icon)): \(message(of: failure, &told)) [\(failure.code)]")
            }
            items += trials.map { Self.line(of: $0.icon, $0.outcome) }
            if !hasListName {
                items.append(
                    "the lists folder ignores this file name: it must end in .plist, and must not begin with . or #")
            }
            let head =
                StyledText("\(file): ") + StyledText("acceptable", .green)
                + StyledText(", \(counted(list.entries.count, "app"))")
            return head.wrapped(to: width) + items.flatMap { $0.item(fitting: width) }
        }
    }

    /// The failure's message; the advice in it is given only for the first icon.
    private func message(of failure: FetchFailure, _ told: inout Set<String>) -> String {
        let message = context.explained(failure.message)
        let parts = message.replacing(bytes: "; to allow it", with: "\0").split(atByte: "\0", maxSplits: 1)
        return parts.count < 2 || told.insert(parts[1]).inserted ? message : parts[0]
    }

    private static func line(of icon: IconURL, _ outcome: FetchOutcome) -> StyledText {
        let url = StyledText(shown(icon))
        switch outcome {
        case .image(let image, _):
            let facts =
                ": \(image.image.type), \(image.image.width)x\(image.image.height), "
                + ByteCount(image.image.bytes).rounded
            return StyledText("ok: ", .green) + url + StyledText(facts)
        case .failed(let failure):
            return StyledText("failed: ", .red) + url + StyledText(": \(failure.message) [\(failure.code)]")
        case .noRoom(let shortage):
            return StyledText("failed: ", .red) + url + StyledText(": \(shortage.reason) [\(shortage.code)]")
        case .notModified, .cancelled: return StyledText("not tried: ", .yellow) + url
        }
    }

    var json: JSON {
        switch verdict {
        case .failure(let rejection):
            return [
                "file": .string(file), "acceptable": false,
                "error": ["code": .string(rejection.code.rawValue), "message": .string(rejection.message)],
            ]
        case .success(let list):
            let problems: [JSON] = list.problems.map { problem in
                ["keyPath": .string(problem.keyPath), "reason": .string(problem.reason)]
            }
            let refused: [JSON] = refused(in: list).map { icon, failure in
                [
                    "icon": .string("\(LogURL(icon))"), "code": .string(failure.code.rawValue),
                    "message": .string(failure.message),
                ]
            }
            var members: [(key: String, value: JSON)] = [
                ("file", .string(file)), ("acceptable", true), ("apps", .number(list.entries.count)),
                ("problems", .array(problems)), ("refused", .array(refused)), ("isListName", .bool(hasListName)),
            ]
            if !trials.isEmpty {
                members.append(("fetched", .array(trials.map { Self.json(of: $0.icon, $0.outcome) })))
            }
            return .object(members)
        }
    }

    private static func json(of icon: IconURL, _ outcome: FetchOutcome) -> JSON {
        let url = JSON.string("\(LogURL(icon))")
        switch outcome {
        case .image(let image, _):
            return [
                "icon": url, "type": .string(image.image.type), "width": .number(image.image.width),
                "height": .number(image.image.height), "bytes": .number(image.image.bytes),
                "sha256": .string(image.image.sha256.hex), "error": nil,
            ]
        case .failed(let failure):
            return [
                "icon": url, "error": ["code": .string(failure.code.rawValue), "message": .string(failure.message)],
            ]
        case .noRoom(let shortage):
            return [
                "icon": url, "error": ["code": .string(shortage.code.rawValue), "message": .string(shortage.reason)],
            ]
        case .notModified, .cancelled: return ["icon": url, "error": ["code": "cancelled", "message": "not tried"]]
        }
    }
}
