// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import HTTPRules

extension FuzzTarget {
    /// URLs of lists, and where redirects lead: the first line is a URL, each other one is a `Location`.
    static let urls = FuzzTarget(name: "urls", isText: true) { bytes in
        let lines = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 20).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard let first = lines.first else { return }
        try checkTexts(of: lines)
        if let base = IconBase(first) {
            for line in lines.dropFirst() { try check(base, with: line) }
        }
        guard let start = try? FetchTarget(first) else { return }
        let policy = Settings().network
        var chain = try RedirectChain(from: start, limit: 10, allowDowngrade: false, policy: policy)
        var seen: Set = [start]
        for location in lines.dropFirst() {
            let before = chain.target
            do {
                try chain.follow(location)
                try check(chain.target)
                try hold(!before.isSecure || chain.target.isSecure, "from https to \(chain.target.url)")
                try hold(seen.insert(chain.target).inserted, "\(chain.target.url) twice")
                try hold(seen.count <= 11, "\(seen.count) URLs in a chain")
            } catch let failure as FetchFailure {
                try hold(chain.target == before, "a redirect that failed led to \(chain.target.url)")
                try hold(failure.message.utf8.count < 1000, "it says “\(failure.message)”")
            }
        }
    }

    private static func checkTexts(of lines: [String]) throws {
        for line in lines {
            if let target = try? FetchTarget(line) {
                try check(target)
            }
            if let plain = FetchTarget(plain: line) {
                try hold((try? FetchTarget(parsing: line)) == plain, "the URL parser reads \(line) in another way")
            }
            if AppEntry.flaw(inIcon: line) == nil {
                try hold(line.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "an icon's URL has a control character")
                try hold(line.utf8.first != 0x20 && line.utf8.last != 0x20, "an icon's URL has a space at an end")
            }
            let spelled = AppEntry.spelledIcon(line)
            try hold(AppEntry.spelledIcon(spelled).utf8.elementsEqual(spelled.utf8), "\(line) is spelled in two ways")
            _ = try? IconSource(IconURL(line))
            try checkLog(of: line)
        }
    }

    /// By bytes, as a server reads them: where a query begins, and where a user name ends.
    private static func checkLog(of url: String) throws {
        guard DataURL(url) == nil else { return }
        let shown = Array(LogURL(url).description.utf8)
        let query = shown.firstIndex(of: UInt8(ascii: "?"))
        try hold(query.map { shown[$0...].elementsEqual("?…".utf8) } ?? true, "a log shows the query of \(url)")
        guard let scheme = Array(url.utf8).firstIndex(of: UInt8(ascii: ":")) else { return }
        let rest = url.utf8.dropFirst(scheme + 1)
        guard rest.starts(with: "//".utf8) else { return }
        let authority = rest.dropFirst(2).prefix { !"/?#\\".utf8.contains($0) }
        guard let at = authority.lastIndex(of: UInt8(ascii: "@")), at != authority.startIndex else { return }
        let secret = Array(url.utf8.prefix(scheme + 3)) + Array(authority[..<at])
        let isMark = authority[..<at].elementsEqual("…".utf8)
        try hold(isMark || !shown.starts(with: secret), "a log shows the user name of \(url)")
    }

    /// What holds for each URL that may be asked for.
    private static func check(_ target: FetchTarget) throws {
        let url = target.url
        try hold(url.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "\(url) is no plain ASCII")
        try hold(!url.contains("#"), "\(url) has a fragment")
        let scheme = url.prefix { $0 != ":" }.lowercased()
        try hold(scheme == (target.isSecure ? "https" : "http"), "\(url) has another scheme")
        // How the host is read by one who splits at the first character that can end it.
        let authority = url.dropFirst(scheme.count + 3).utf8.prefix { !"/?#\\".utf8.contains($0) }
        try hold(!authority.contains(UInt8(ascii: "@")), "\(url) has a user name")
        let host = target.host.contains(":") ? "[\(target.host)]" : target.host
        try hold(String(Substring(authority)).lowercased().hasPrefix(host), "\(url) has another host than \(host)")
        try hold((1...65_535).contains(target.port), "\(url) has port \(target.port)")
        let again: FetchTarget
        do {
            again = try FetchTarget(url)
        } catch {
            // What was percent-encoded can be too long.
            try hold(url.utf8.count > FetchTarget.maxLength, "\(url) is refused when read again: \(error)")
            return
        }
        try hold(again == target && again.url.hasBytes(of: url), "\(url) is \(again.url) when read again")
        try checkLog(of: url)
    }

    private static func check(_ base: IconBase, with name: String) throws {
        try hold(base.url.hasSuffix("/"), "a folder is \(base.url)")
        let file = base.url(ofFile: name)
        try hold(file.hasPrefix(base.url), "\(file) is not in \(base.url)")
        try hold(file.dropFirst(base.url.count).utf8.allSatisfy { (0x21...0x7E).contains($0) }, "\(file) is not ASCII")
        if case .success(let url) = ListLimits(iconBase: base).icon(name) {
            try hold(AppEntry.flaw(inIcon: url.text) == nil, "\(name) stands for \(url)")
        }
    }
}
