// SPDX-License-Identifier: Apache-2.0
package import AppLists
import CacheFormat
import FoundationEssentials

/// Parses a property list (XML, binary or OpenStep) as an app list.
///
/// The underlying parser can crash: parse untrusted bytes in a separate process.
package struct ListParser: Sendable {
    private let limits: ListLimits

    package init(limits: ListLimits = ListLimits()) {
        self.limits = limits
    }

    package func parse(_ bytes: [UInt8]) -> ListVerdict {
        guard bytes.count <= limits.maxBytes.bytes else { return .failure(.tooLarge(limit: limits.maxBytes)) }
        let encoding = PropertyListEncoding(of: bytes)
        // The parser reads white space alone as an empty dictionary.
        guard encoding != .blank else { return .failure(.emptyFile) }
        let outline: PropertyListOutline
        do throws(ListRejection) {
            outline = try encoding.outline(of: bytes, limits)
        } catch {
            return .failure(error)
        }
        var limits = limits
        if let keys = outline.identityKeys { limits.identityKeys = keys }
        let decoder = PropertyListDecoder()
        if let key = ListDocument.limitsKey { decoder.userInfo[key] = limits }
        if let key = ListDocument.topKeysKey { decoder.userInfo[key] = outline.topKeys }
        let text = encoding == .openStep ? OpenStepEscapes.joiningSurrogates(bytes) : bytes
        do {
            return try decoder.decode(ListDocument.self, from: Data(text)).verdict
        } catch {
            guard !Self.isJSON(bytes) else {
                return .failure(.notAPropertyList("this is JSON; convert it to a property list"))
            }
            let fault = encoding == .xml ? XMLFault.first(in: bytes) : nil
            return .failure(.notAPropertyList(fault ?? Self.detail(of: error, encoding)))
        }
    }

    /// Whether a rejected file begins like JSON: a bracket, then a quoted string and a colon, or another bracket.
    private static func isJSON(_ bytes: [UInt8]) -> Bool {
        let text = bytes.prefix(1 << 16).filter { $0 > 0x20 }.drop { $0 >= 0x80 }
        let beginning = String(decoding: text.prefix(4096), as: UTF8.self)
        return beginning.prefixMatch(of: /\{"[^"]*":|\[[\[{"\]]/) != nil
    }

    /// The parser's error, as a clause of bounded length.
    private static func detail(of error: any Error, _ encoding: PropertyListEncoding) -> String {
        guard case .dataCorrupted(let context)? = error as? DecodingError else { return "it cannot be decoded" }
        let cause = (context.underlyingError as? CocoaError)?.userInfo["NSDebugDescription"] as? String
        var text = cause ?? context.debugDescription
        // The parser's line numbers for XML are wrong.
        if encoding == .xml, let line = text.firstRange(of: /(, | )(on|at) line \d+/) {
            text.removeSubrange(line)
        }
        if text.last == "." { text.removeLast() }
        return ListPath.shown(text.prefix(1).asciiLowercased + text.dropFirst())
    }
}
