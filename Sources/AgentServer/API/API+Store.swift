// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Hummingbird
import Reports
import SyncAgent

// Routes for eviction, purge and repair.
extension API {
    var storeRoutes: [APIRoute] {
        [
            .read("eviction", takesQuery: true) { request, _ in
                guard try !request.query(["url"]).isEmpty else { return try Self.answer(await eviction.get()?.json) }
                return try Self.answer(await agent.evictionReport(on: try await request.iconURL())?.json)
            },
            .read("eviction", by: .post) { request, _ in
                try Self.answer(await agent.evictionReport(on: try await request.iconURL())?.json)
            },
            .change("evict") { request, _ in
                await agent.evict(isConfirmed: try await RequestDocument(request, [.confirm]).confirm ?? false)
                return try Self.answer(await eviction.get()?.json)
            },
            .change("purge") { request, _ in
                _ = try await RequestDocument(request, [])
                guard let report = await agent.purge(), case .object(let status) = await agent.status()?.json else {
                    throw APIError.stopping
                }
                return try Self.answer(.object(status + [("purge", JSON(report))]))
            },
            .change("repair") { request, _ in
                let images = try await RequestDocument(request, [.images]).images
                guard let images else {
                    throw APIError.badRequest("The request names no images: send {\"images\": [\"<SHA-256>\", …]}.")
                }
                let suspects = try images.map { text in
                    guard let digest = Digest(hex: text) else {
                        throw APIError.badRequest("“\(text.prefix(bytes: 64))” is not a SHA-256 digest in hexadecimal.")
                    }
                    return digest
                }
                await agent.recheck(Set(suspects))
                return try Self.answer(await board.text.get())
            },
        ]
    }
}
