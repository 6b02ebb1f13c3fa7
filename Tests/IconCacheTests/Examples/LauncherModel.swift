// SPDX-License-Identifier: Apache-2.0
import IconCache

/// The model of a launcher's table: a row for each entry of an app list, in the list's order.
@MainActor
final class LauncherModel {
    /// What the table has to draw anew.
    enum Update: Equatable {
        case table
        case row(Int)
    }

    private(set) var apps: [AppListDocument.App] = []

    private let cache: IconCache
    private let list: ListName
    private let memory: IconMemory
    private let draw: (Update) -> Void

    init(of list: ListName, in cache: IconCache, draw: @escaping (Update) -> Void) {
        self.list = list
        self.cache = cache
        self.draw = draw
        memory = IconMemory(of: cache, costLimit: 8 << 20)
    }

    /// Fills the table, and keeps it up to date until the task is cancelled.
    func run() async throws {
        for try await document in cache.changes(ofList: list) { show(document?.apps ?? []) }
    }

    /// The image of a row, which is drawn as often as the row comes into view; `nil` stands for the placeholder.
    func image(at row: Int) -> [UInt8]? {
        try? memory.data(for: apps[row].icon)
    }

    /// Gives the images back that were kept for rows that may come into view again.
    func memoryIsShort() {
        memory.purge()
    }

    private func show(_ newest: [AppListDocument.App]) {
        let before = apps
        apps = newest
        guard newest.map(\.icon) == before.map(\.icon) else { return draw(.table) }
        for row in apps.indices where apps[row] != before[row] { draw(.row(row)) }
    }
}
