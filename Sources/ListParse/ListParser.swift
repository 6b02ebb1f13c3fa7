// SPDX-License-Identifier: Apache-2.0
package import AppLists
import CacheFormat
import FoundationEssentials

/// Parses a property list (XML, binary or OpenStep) or JSON as an app list.
///
/// The underlying parser can crash: parse untrusted bytes in a separate process.
package struct ListParser: Sendable {
    private let limits: ListLimits

    package init(limits: ListLimits = ListLimits()) {
        self.limits = limits
    }

    package func parse(_ file: [UInt8]) -> ListVerdict {
        guard file.count <= limits.maxBytes.bytes else { return .failure(.tooLarge(limit: limits.maxBytes)) }
        let (bytes, isTranscoded): ([UInt8], Bool)
        do throws(ListRejection) {
            (bytes, isTranscoded) = try ListText.utf8(file)
        } catch {
            return .failure(error)
        }
        let encoding = PropertyListEncoding(of: bytes)
        // The parser reads white space alone as an empty dictionary.
        guard encoding != .blank else { return .failure(.emptyFile) }
        if encoding == .json, isTranscoded { return .failure(.notJSON("it is not in UTF-8")) }
        do {
            let outline = try encoding.outline(of: bytes, limits)
            let document: ListDocument
            if encoding == .json {
                document = try JSONDecoder().decode(ListDocument.self, from: Data(bytes), configuration: outline)
            } else {
                let text = encoding == .openStep ? OpenStepEscapes.joiningSurrogates(bytes) : bytes
                document = try PropertyListDecoder().decode(
                    ListDocument.self, from: Data(text), configuration: outline)
            }
            if case .success = document.verdict, let (key, offset) = outline.repeated.first {
                return .failure(.repeatedKey(ListPath.shown(key), line: bytes.line(at: offset)))
            }
            return document.verdict
        } catch let rejection as ListRejection {
            return .failure(rejection)
        } catch {
            let fault = encoding == .xml ? XMLFault.first(in: bytes) : nil
            let detail = fault ?? Self.detail(of: error, encoding)
            return .failure(encoding == .json ? .notJSON(detail) : .notAPropertyList(detail))
        }
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
