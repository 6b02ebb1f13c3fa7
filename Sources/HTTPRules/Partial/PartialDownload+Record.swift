// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
import FoundationEssentials

extension PartialDownload {
    package static let suffix = ".part"

    package static func file(of url: IconURL) -> String { Digest.of(url.text).hex + suffix }

    package static func record(ofFile name: String) -> String { name + ".json" }

    package static func file(ofRecord name: String) -> String? {
        name.ends(withBytes: suffix + ".json") ? name.droppingLast(bytes: 5) : nil
    }

    package var file: String { Self.file(of: url) }

    private struct Record: Codable {
        var boot: String
        var url: IconURL
        var target: String
        var fields: String
        var received: String
        var length: Int?
    }

    /// The record as JSON.
    ///
    /// The part is not fsynced, so a crash of the machine may lose some of it: the record is valid only until the next
    /// boot. `boot` identifies the current boot (`boot_id`; random(4)).
    package func record(boot: String) -> String {
        let record = Record(
            boot: boot, url: url, target: target, fields: response.fields.text,
            received: response.responseTime.description, length: length)
        return JSON(record).text + "\n"
    }

    /// Parses a record; `nil` if it is invalid, or from an earlier boot.
    ///
    /// `bytes` is the size of the partial file.
    package init?(record: [UInt8], boot: String, bytes: Int) {
        guard let record = try? JSONDecoder().decode(Record.self, untrusted: Data(record)), record.boot == boot,
            let received = Timestamp(record.received)
        else { return nil }
        let response = StoredResponse(
            url: record.target, fields: HTTPFields(text: record.fields), requestTime: received, responseTime: received)
        self.init(url: record.url, target: record.target, response: response, length: record.length)
        self.bytes = bytes
    }
}
