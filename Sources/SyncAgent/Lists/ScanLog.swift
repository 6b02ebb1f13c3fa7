// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Logging
import SyncPlan

/// Logs what looks at the lists folder showed and what came of it, and the same trouble only once.
struct ScanLog: Sendable {
    private let logger: Logger
    private var unavailable: String?
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
    mutating func note(_ scan: ListScan, hasGoodVersion: (_ list: ListName) -> Bool) {
        switch scan {
        case .unavailable(let reason):
            if reason != unavailable {
                logger.warning(
                    "lists folder unavailable: all lists keep their last version", metadata: ["reason": "\(reason)"])
            }
            unavailable = reason
        case .listed(_, let present, let changed):
            if unavailable != nil { logger.notice("lists folder available again") }
            unavailable = nil
            rejections = rejections.filter { present.contains($0.key) }
            for (name, reading) in changed.sorted(by: { $0.key < $1.key }) {
                switch reading.verdict {
                case .success(let list): note(list, name)
                case .failure(let rejection): note(rejection, name, hasGoodVersion: hasGoodVersion(name))
                }
            }
        }
    }

    /// Notes what has a list's name, and is no file.
    mutating func note(others: Set<ListName>) {
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
                ? "list rejected: its last good version stays" : "list rejected: it has no good version",
            metadata: ["list": "\(name)", "code": "\(rejection.code)", "reason": "\(rejection.message)"])
    }
}
