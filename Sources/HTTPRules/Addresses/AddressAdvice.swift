// SPDX-License-Identifier: Apache-2.0
package import AppLists
import CacheFormat

/// How to allow a refused address: the entries to add to `network.allow` or `network.allowHosts`.
///
/// Failures are stored and reported as text, with the advice as a clause of their message. This type both writes and
/// reads that clause, so that it can be completed where it is shown.
package struct AddressAdvice: Hashable, Sendable {
    /// An entry for `network.allow`.
    package var range: AddressRange
    /// An entry for `network.allowHosts`; `nil` if that setting does not allow such addresses.
    package var host: String?

    /// The clause: `; to allow it, add 10.0.0.0/8 to network.allow`; with a file, it also says where to add the entries.
    package func clause(for file: String? = nil) -> String {
        let table = file == nil ? "network." : ""
        return "\(Self.beginning)\(range) to \(table)allow" + (host.map { ", or \($0) to \(table)allowHosts" } ?? "")
            + (file.map { ", in [network] of \($0), and reload" } ?? "")
    }

    /// Finds the clause in a message; returns what precedes it, the advice, and what follows.
    package static func find(in message: String) -> (cause: String, advice: AddressAdvice, rest: String)? {
        let bytes = Array(message.utf8)
        guard let start = bytes.indices.first(where: { bytes[$0...].starts(with: beginning.utf8) }) else { return nil }
        let text = String(decoding: bytes[start...], as: UTF8.self)
        let words = text.dropping(bytes: beginning.utf8.count).split(atByte: " ", maxSplits: 5)
        guard let range = words.first.flatMap({ AddressRange($0) }) else { return nil }
        let host = words.count > 4 && words[2] == "network.allow," ? words[4] : nil
        let advice = AddressAdvice(range: range, host: host)
        guard text.starts(withBytes: advice.clause()) else { return nil }
        return (
            String(decoding: bytes[..<start], as: UTF8.self), advice, text.dropping(bytes: advice.clause().utf8.count)
        )
    }

    private static let beginning = "; to allow it, add "
}
