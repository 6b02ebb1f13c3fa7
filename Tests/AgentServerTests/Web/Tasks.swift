// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Tasks that end together.
final class Tasks: Sendable {
    private let tasks = Mutex<[Task<Void, Never>]>([])

    func add(_ task: Task<Void, Never>) { tasks.withLock { $0.append(task) } }

    func end() async {
        let all = tasks.withLock(\.self)
        for task in all { task.cancel() }
        for task in all { await task.value }
    }
}
