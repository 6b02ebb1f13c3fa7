// SPDX-License-Identifier: Apache-2.0
import DashboardPage

/// The OpenAPI 3.1 description of the API, served as `GET /v1/openapi.json`.
enum OpenAPI {
    /// The file `openapi.json` on one line.
    static let text: String = {
        let file = api_description().pointee
        let bytes = UnsafeRawBufferPointer(start: file.bytes, count: file.length)
        let lines = bytes.split(separator: UInt8(ascii: "\n")).map { $0.drop { $0 == UInt8(ascii: " ") } }
        return String(decoding: Array(lines.joined(separator: [UInt8(ascii: " ")])), as: UTF8.self) + "\n"
    }()
}
