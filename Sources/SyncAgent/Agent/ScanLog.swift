// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Logging
import SyncPlan

/// Logs what looks at the lists folder showed and what came of it, and the same trouble only once.
struct ScanLog: Sendable {
    private let logger: Logger
    /// Why the folder is not taken for the lists folder; `nil` if it is.
    private var trouble: String?
    private var rejections: [ListName: ListRejection] = [:]
    private var others: Set<ListName> = []

    init(logger: Logger) {
        self.logger = logger
    }

    /// Notes a look that the plan has taken in.
    ///
    /// - Parameters:
    ///   - scan: What it showed.
    ///   - hasGoodVersion: Whether a version of this list is in force.
    ///   - trouble: Why the plan does not take it for the lists folder; `nil` if it does.
    mutating func note(_ scan: ListScan, hasGoodVersion: (_ list: ListName) -> Bool, trouble: String?) {
        if trouble != self.trouble { note(trouble) }
        self.trouble = trouble
        guard case .listed(let folder, let present, let changed) = scan else { return }
        note(folder.others)
        rejections = rejections.filter { present.contains($0.key) }
        for (name, reading) in changed.sorted(by: { $0.key < $1.key }) {
            switch reading.verdict {
            case .success(let list): note(list, name)
            case .failure(let rejection): note(rejection, name, hasGoodVersion: hasGoodVersion(name))
            }
        }
    }

    private func note(_ trouble: String?) {
        guard let trouble else { return logger.notice("lists folder available again") }
        logger.warning(
            "lists folder unavailable: all lists keep their last version", metadata: ["reason": "\(trouble)"])
    }

    private mutating func note(_ others: Set<ListName>) {
        for name in others.subtracting(self.others).sorted() {
            let rejection = ListRejection.notARegularFile
            logger.warning(
                "not an app list",
                metadata: ["list": "\(name)", "code": "\(rejection.code)", "reason": "\(rejection.message)"])
        }
        self.others = others
    }

    private mutating func note(_ list: AppList, _ name: ListName) {
        rejections[name] = nil
        logger.info(
            "list read",
            metadata: ["list": "\(name)", "apps": "\(list.entries.count)", "problems": "\(list.problems.count)"])
        for problem in list.problems {
            logger.warning("entry ignored", metadata: ["list": "\(name)", "problem": "\(problem)"])
        }
    }

    private mutating func note(_ rejection: ListRejection, _ name: ListName, hasGoodVersion: Bool) {
        guard rejections.updateValue(rejection, forKey: name) != rejection else { return }
        logger.warning(
            hasGoodVersion
                ? "list rejected, keeping its last good version" : "list rejected: it has no good version",
            metadata: ["list": "\(name)", "code": "\(rejection.code)", "reason": "\(rejection.message)"])
    }
}
