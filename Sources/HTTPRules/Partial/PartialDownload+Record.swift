// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
import FoundationEssentials

extension PartialDownload {
    /// What the names end in of files with the first bytes of an image.
    package static let suffix = ".part"

    /// The name in `staging/` of the file with the first bytes of a URL's image.
    package static func file(of url: IconURL) -> String { Digest.of(url.text).hex + suffix }

    /// The name in `staging/` of the record that says what the bytes of such a file are.
    package static func record(ofFile name: String) -> String { name + ".json" }

    /// The name of the file that a record of this name is about; `nil` for any other name.
    package static func file(ofRecord name: String) -> String? {
        name.ends(withBytes: suffix + ".json") ? name.droppingLast(bytes: 5) : nil
    }

    package var file: String { Self.file(of: url) }

    private struct Record: Decodable {
        var boot: String
        var url: IconURL
        var target: String
        var fields: String
        var received: String
        var length: Int?
    }

    /// The record as JSON.
    ///
    /// What is written is not flushed, so that some of it may be lost when the machine stops: the record is of use until
    /// then. `boot` names the present run of the kernel (`boot_id`; random(4)).
    package func record(boot: String) -> String {
        let object: JSON = [
            "boot": .string(boot), "url": .text(url), "target": .string(target),
            "fields": .string(response.fields.text), "received": .string(response.responseTime.description),
            "length": length.map(JSON.number) ?? .null,
        ]
        return object.text + "\n"
    }

    /// Reads a record; `nil` if it is none, or of an earlier run of the kernel.
    ///
    /// - Parameters:
    ///   - record: The JSON text.
    ///   - boot: The present run of the kernel.
    ///   - bytes: How many bytes there are in the file beside it.
    package init?(record: [UInt8], boot: String, bytes: Int) {
        guard let record = try? JSONDecoder().decode(Record.self, from: Data(record)), record.boot == boot,
            let received = Timestamp(record.received)
        else { return nil }
        let response = StoredResponse(
            url: record.target, fields: HTTPFields(text: record.fields), requestTime: received, responseTime: received)
        self.init(url: record.url, target: record.target, response: response, length: record.length)
        self.bytes = bytes
    }
}
