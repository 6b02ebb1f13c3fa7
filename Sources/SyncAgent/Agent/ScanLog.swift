// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Logging

/// Logs the results of scans that the plan does not report, and each trouble only once.
struct ScanLog: Sendable {
    private let logger: Logger
    private var trouble: String?
    private var others: Set<ListName> = []

    init(logger: Logger) {
        self.logger = logger
    }

    /// Logs a scan that the plan has handled, and changes of `trouble`, the reason why the lists folder is unavailable.
    ///
    /// `others` are entries named like lists that are no files, apart from those that took the place of a list.
    mutating func record(_ scan: ListScan, others: Set<ListName>, trouble: String?) {
        if trouble != self.trouble { log(trouble) }
        self.trouble = trouble
        guard case .listed(_, _, let changed) = scan else { return }
        log(others)
        for (name, reading) in changed.sorted(by: { $0.key < $1.key }) {
            guard case .success(let list) = reading.verdict else { continue }
            for problem in list.problems {
                logger.warning("entry or value ignored", metadata: ["list": "\(name)", "problem": "\(problem)"])
            }
        }
    }

    private func log(_ trouble: String?) {
        guard let trouble else { return logger.notice("lists folder available again") }
        logger.warning(
            "lists folder unavailable: all lists keep their last version", metadata: ["reason": "\(trouble)"])
    }

    private mutating func log(_ others: Set<ListName>) {
        for name in others.subtracting(self.others).sorted() {
            let rejection = ListRejection.notARegularFile
            logger.warning(
                "not an app list",
                metadata: ["list": "\(name)", "code": "\(rejection.code)", "reason": "\(rejection.message)"])
        }
        self.others = others
    }
}
