// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
import FoundationEssentials

/// The URL that relative icon names are resolved against: `lists.iconBaseURL`.
package struct IconBase: Hashable, Sendable {
    /// It ends in `/`.
    package let url: String

    /// Reads a folder's URL, with or without the final `/`.
    ///
    /// `nil` if the text is not an absolute http or https URL, or has a query or a fragment.
    package init?(_ text: String) {
        guard AppEntry.flaw(inIcon: text) == nil, !text.utf8.contains(where: "?# ".utf8.contains),
            let scheme = URL(string: text)?.scheme?.asciiLowercased, scheme == "http" || scheme == "https",
            (try? FetchTarget(text)) != nil
        else { return nil }
        url = text.ends(withBytes: "/") ? text : text + "/"
    }

    /// The URL of a file in or below the folder; reserved characters are percent-encoded (RFC 3986, section 2.3).
    package func url(ofFile path: String) -> String {
        url + PercentEncoding.encode(path, keeping: "/")
    }

    /// The path of a file in or below the folder, decoded; `nil` for any other URL, and for a path that is not plain.
    package func file(of url: String) -> String? {
        guard url.starts(withBytes: self.url) else { return nil }
        let path = url.utf8.dropFirst(self.url.utf8.count).prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard let file = PercentEncoding.decode(path).flatMap({ String(utf8: $0[...]) }) else { return nil }
        let components = file.split(atByte: "/", omittingEmpty: false)
        return components.contains { ["", ".", ".."].contains($0) } ? nil : file
    }

    /// Resolves a relative URL (RFC 3986, section 5.2); `nil` if the text is not one.
    package func resolve(_ reference: String) -> String? {
        URL(string: url).flatMap { URL(string: FetchTarget.encoded(Substring(reference)), relativeTo: $0) }?
            .absoluteString
    }
}

extension ListLimits {
    /// The icon URL that a list's text gives, without the white space of its writer, and resolved if it is relative.
    package func icon(_ spelled: String) -> Result<IconURL, IconFlaw> {
        let text = AppEntry.spelledIcon(spelled)
        guard let flaw = AppEntry.flaw(inIcon: text) else { return .success(IconURL(text)) }
        let isRelative = flaw == .relative
        if isRelative, AppEntry.hasURLWithin(text) { return .failure(.withinText) }
        guard let iconBase, isRelative || flaw == .notOneWord && AppEntry.isImageFile(text) else {
            return .failure(isRelative && AppEntry.beginsWithHost(text) ? .noScheme : flaw)
        }
        return iconBase.resolve(text).flatMap { AppEntry.flaw(inIcon: $0) == nil ? .success(IconURL($0)) : nil }
            ?? .failure(.unresolvable)
    }

    /// Whether a text tells that it is the URL of an icon: an absolute one without spaces, or, with a base, an image file.
    package func isPlainURL(_ text: String) -> Bool {
        AppEntry.isPlainURL(text) || iconBase != nil && AppEntry.isImageFile(AppEntry.spelledIcon(text))
    }
}
