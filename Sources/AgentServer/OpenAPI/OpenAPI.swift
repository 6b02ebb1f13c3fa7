// SPDX-License-Identifier: Apache-2.0
import AgentSettings
package import CacheFormat
import SyncPlan

/// The OpenAPI 3.1 description of the API, served as `GET /v1/openapi.json`.
package enum OpenAPI {
    struct Operation {
        struct Parameter {
            var name: String
            var text: String
            var schema: JSON = ["type": "string"]
            var isInPath = false
            var isRequired = false
        }

        var id: String
        var summary: String
        var parameters: [Parameter] = []
        /// The schema of the request's body; `nil` if it has none.
        var request: Schema?
        /// The name of the response's schema; empty if it has none.
        var answer: String
        var mediaType = "application/json"
        /// The media type of the response to clients that accept it instead.
        var streamType: String?
        /// Statuses that only this route returns.
        var refusals: [Int] = []
    }

    package static func document(of routes: [APIRoute]) -> JSON {
        var paths: [(key: String, value: JSON)] = []
        for route in routes {
            guard let operation = operations[key(of: route)] else { continue }
            let entry = (key: route.method.rawValue.asciiLowercased, value: operation.json(route))
            if let place = paths.firstIndex(where: { $0.key == route.path }),
                case .object(let methods) = paths[place].value
            {
                paths[place].value = .object(methods + [entry])
            } else {
                paths.append((route.path, .object([entry])))
            }
        }
        return [
            "openapi": "3.1.0",
            "info": [
                "title": "syncagent control API", "version": .string(Version.current),
                "summary": "Asks a running syncagent what it knows, and tells it what to do.",
                "description":
                    "HTTP/1.1 over the agent's Unix socket. Who may do what is decided by the credentials of the peer.",
                "license": ["name": "Apache-2.0", "identifier": "Apache-2.0"],
            ],
            "servers": [
                ["url": "http://agent", "description": "Any host name: curl --unix-socket PATH http://agent/v1/status"]
            ],
            "paths": .object(paths),
            "components": ["schemas": .object(schemas.map { ($0.name, $0.schema.json) })],
        ]
    }

    static func key(of route: APIRoute) -> String { "\(route.method.rawValue) \(route.path)" }
}

extension OpenAPI.Operation {
    fileprivate func json(_ route: APIRoute) -> JSON {
        var members: [(key: String, value: JSON)] = [
            ("operationId", .string(id)), ("summary", .string(summary)),
            ("description", .string(route.access == .read ? "Changes nothing." : "Needs the right to change things.")),
        ]
        if !parameters.isEmpty { members.append(("parameters", .array(parameters.map(\.json)))) }
        if let request {
            let body: JSON = [
                "required": .bool(!request.required.isEmpty), "content": ["application/json": ["schema": request.json]],
            ]
            members.append(("requestBody", body))
        }
        let schema: JSON = answer.isEmpty ? [:] : ["$ref": .string("#/components/schemas/\(answer)")]
        var types: [(key: String, value: JSON)] = [(mediaType, ["schema": schema])]
        if let streamType { types.append((streamType, ["schema": .anyText])) }
        let content = JSON.object(types)
        var answers: [(key: String, value: JSON)] = [("200", ["description": "Done.", "content": content])]
        for status in ([400, 403, 421, 503] + (request == nil ? [] : [408, 413]) + refusals).sorted() {
            let content: JSON = ["application/json": ["schema": ["$ref": "#/components/schemas/Error"]]]
            answers.append(("\(status)", ["description": .string(Self.meaning(of: status)), "content": content]))
        }
        members.append(("responses", .object(answers)))
        return .object(members)
    }

    private static func meaning(of status: Int) -> String {
        switch status {
        case 400: "The request is malformed."
        case 403: "The sender may not do this."
        case 404: "There is no such list or icon."
        case 408: "The request took too long to arrive."
        case 413: "The request is too large."
        case 421: "The Host field does not name the dashboard's listener."
        case 503: "The agent is about to stop, has too many clients, or does not respond."
        default: "Refused."
        }
    }
}

extension OpenAPI.Operation.Parameter {
    fileprivate var json: JSON {
        [
            "name": .string(name), "in": .string(isInPath ? "path" : "query"),
            "required": .bool(isInPath || isRequired),
            "description": .string(text), "schema": schema,
        ]
    }
}
