// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Hummingbird
import Reports
import SyncAgent
import SyncPlan

// Routes for the lists, and for the icons that they name.
extension API {
    private static let pageLimits = (most: 1000, default: 100)

    var listRoutes: [APIRoute] {
        [
            .read("lists") { _, _ in
                guard let report = await agent.status() else { throw APIError.stopping }
                return try Self.answer(["format": 1, "lists": .lines(.array(report.lists.map(\.json)))])
            },
            .read("lists/{name}") { _, context in
                let text = context.parameters.get("name").flatMap { PercentEncoding.decode($0[...].utf8) }
                guard let name = text.flatMap({ String(validating: $0, as: UTF8.self) }) else {
                    throw APIError.badRequest("The name of the list is not percent-encoded UTF-8.")
                }
                guard let report = await agent.status() else { throw APIError.stopping }
                guard let list = report.lists.first(where: { $0.name == ListName(name) }) else {
                    throw APIError.noSuchList
                }
                return try Self.answer(["format": 1, "list": list.json])
            },
            .read("icons", takesQuery: true) { request, _ in try await icons(request) },
            .read("why", takesQuery: true) { request, _ in try await why(request) },
            .read("why", by: .post) { request, _ in try await why(request) },
        ]
    }

    @concurrent private func icons(_ request: Request) async throws -> Response {
        let values = try request.query(["list", "state", "after", "limit"])
        var query = IconDirectory.Query(limit: Self.pageLimits.default)
        query.list = values["list"].map { ListName($0) }
        query.after = values["after"]
        if let text = values["state"] {
            guard let state = IconSummary.State(rawValue: text) else {
                let states = IconSummary.State.allCases.map(\.rawValue).joined(separator: ", ")
                throw APIError.badRequest("“\(text.prefix(bytes: 64))” is not an icon state: use \(states).")
            }
            query.state = state
        }
        if let limit = try values.number("limit", in: 1...Self.pageLimits.most) { query.limit = limit }
        return try Self.answer(await directory.page(query))
    }

    @concurrent private func why(_ request: Request) async throws -> Response {
        let (url, now) = (try await request.iconURL(), agent.now)
        guard let report = await agent.ask({ $0.report(on: url, now: now) }) else { throw APIError.stopping }
        guard let report else {
            throw APIError.notFound(.noSuchIcon, "No app list names this URL, and no image of it is on disk.")
        }
        return try Self.answer(report.json)
    }
}
