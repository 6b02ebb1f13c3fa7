// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Hummingbird
import Reports
import SyncAgent
import SyncPlan

extension API {
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
        ]
    }
}
