// SPDX-License-Identifier: Apache-2.0
import CacheFormat

extension OpenAPI {
    private static let urlText = "The URL of an icon, spelled as in the app list, percent-encoded."
    private static let url = Operation.Parameter(name: "url", text: urlText, isRequired: true)
    private static let oneURL = Schema(request: ["url": .anyText], required: ["url"])
    private static let nothing = Schema(request: [:])
    private static let someLists = Schema(request: ["lists": .list(of: .anyText)])

    /// By method and path.
    static let operations: [String: Operation] = [
        "GET /v1/health": Operation(
            id: "health", summary: "Tell whether the agent runs and is well.", answer: "Health"),
        "GET /v1/status": Operation(id: "status", summary: "Tell how the agent is.", answer: "Status"),
        "GET /v1/status/stream": Operation(
            id: "streamStatus", summary: "Tell how the agent is, on one line, and again whenever that changes.",
            answer: "Status",
            mediaType: "application/x-ndjson"),
        "GET /v1/settings": Operation(
            id: "settings", summary: "Tell the effective settings and folders, without passwords.", answer: "Settings"),
        "GET /v1/metrics": Operation(
            id: "metrics", summary: "Tell all metrics, in the text format of Prometheus.", answer: "",
            mediaType: "text/plain"),
        "GET /v1/events": Operation(
            id: "events",
            summary: "Tell what happened; to a client that accepts text/event-stream, also what happens from now on.",
            parameters: [
                .init(name: "since", text: "Begin after the event of this number.", schema: .number),
                .init(name: "last", text: "Begin with so many of the newest events.", schema: .number),
                .init(
                    name: "limit", text: "The most events of a page.",
                    schema: ["type": "integer", "minimum": 1, "maximum": 1000, "default": 100]),
            ], answer: "Events", streamType: "text/event-stream"),
        "POST /v1/dashboard": Operation(
            id: "dashboard", summary: "Open the dashboard, for as long as the connection is open.",
            parameters: [
                .init(
                    name: "access", text: "What the page may do. The default is “change”.",
                    schema: .one(of: "change", "read"))
            ], answer: "", mediaType: "application/x-ndjson"),
        "GET /v1/openapi.json": Operation(id: "openapi", summary: "Describe the API.", answer: ""),
        "GET /v1/lists": Operation(id: "lists", summary: "Tell of all app lists.", answer: "Lists"),
        "GET /v1/lists/{name}": Operation(
            id: "list", summary: "Tell of one app list.",
            parameters: [.init(name: "name", text: "The file name of the list.", isInPath: true)], answer: "OneList",
            refusals: [404]),
        "GET /v1/icons": Operation(
            id: "icons", summary: "Tell of icons, page by page, in the order of their URLs.",
            parameters: [
                .init(name: "list", text: "Only the icons that this list names."),
                .init(
                    name: "state", text: "Only the icons in this state.",
                    schema: .one(of: "ready", "pending", "failed", "retired")),
                .init(
                    name: "after", text: "The “next” of the page before.",
                    schema: ["type": "string", "pattern": "^[0-9]{1,9}\\.([0-9a-f]{2}){0,512}$"]),
                .init(
                    name: "limit", text: "The most icons on the page.",
                    schema: ["type": "integer", "minimum": 1, "maximum": 1000, "default": 100]),
            ], answer: "Icons", refusals: [404]),
        "GET /v1/why": Operation(
            id: "why", summary: "Tell everything known of one URL.", parameters: [url], answer: "Why",
            refusals: [404, 413]),
        "POST /v1/why": Operation(
            id: "whyLong", summary: "The same, for a URL that is too long for a query.", request: oneURL, answer: "Why",
            refusals: [404]),
        "GET /v1/eviction": Operation(
            id: "eviction", summary: "Tell which images would be evicted, which stay, and why.",
            parameters: [.init(name: "url", text: urlText)], answer: "Eviction", refusals: [413]),
        "POST /v1/eviction": Operation(
            id: "evictionLong", summary: "The same of one URL, which may be too long for a query.", request: oneURL,
            answer: "Eviction"),
        "GET /v1/pins": Operation(id: "pins", summary: "Tell which icons are pinned.", answer: "Pins"),
        "POST /v1/sync": Operation(
            id: "sync", summary: "Rescan the lists folder; icons of the lists that are named go first.",
            request: someLists,
            answer: "Status"),
        "POST /v1/sync/stream": Operation(
            id: "streamSync",
            summary: "Rescan the lists folder, and tell the progress until nothing more comes for now.",
            request: someLists, answer: "Sync", mediaType: "application/x-ndjson"),
        "POST /v1/pause": Operation(
            id: "pause", summary: "Pause new downloads, also over restarts.", request: nothing, answer: "Status"),
        "POST /v1/resume": Operation(id: "resume", summary: "Resume downloads.", request: nothing, answer: "Status"),
        "POST /v1/retry": Operation(
            id: "retry",
            summary: "Request icons that failed now, be it for good; the backoff of their origins is over.",
            request: Schema(request: ["urls": .list(of: .anyText), "lists": .list(of: .anyText), "failed": .flag]),
            answer: "Selection"),
        "POST /v1/refresh": Operation(
            id: "refresh", summary: "Revalidate ready icons now, however fresh they are.",
            request: Schema(request: ["urls": .list(of: .anyText), "lists": .list(of: .anyText)]), answer: "Selection"),
        "POST /v1/pin": Operation(
            id: "pin", summary: "Keep an icon that no list names.", request: oneURL, answer: "Pins"),
        "POST /v1/unpin": Operation(
            id: "unpin", summary: "Unpin an icon; it stays only while a list names it.", request: oneURL, answer: "Pins"
        ),
        "POST /v1/evict": Operation(
            id: "evict", summary: "Evict retired images now; with “confirm”, also what is held.",
            request: Schema(request: ["confirm": .flag]), answer: "Eviction"),
        "POST /v1/repair": Operation(
            id: "repair", summary: "Verify images by their digests, and download damaged ones again.",
            request: Schema(
                request: ["images": .list(of: ["type": "string", "pattern": "^[0-9a-f]{64}$"])], required: ["images"]),
            answer: "Status"),
        "POST /v1/purge": Operation(
            id: "purge", summary: "Forget and remove everything but the lists, and download it anew.", request: nothing,
            answer: "Status"),
    ]
}
