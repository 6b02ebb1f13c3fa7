// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Glibc
package import HTTPRules

/// The file `auth.toml`, which has the credentials.
package struct CredentialsFile: Sendable {
    private static let keys = ["host", "port", "path", "lists", "public", "http"] + Credential.Proof.forms.joined()

    package let path: String
    package private(set) var credentials = Credentials()
    package private(set) var problems: [ConfigurationProblem] = []

    /// Reads the file; a missing file has no credentials.
    ///
    /// Without `isGuarded`, the file's own mode must keep other users out; in the folder of systemd's credentials, the
    /// folder does. With `isChecked`, root only checks the file, so it may belong to the agent's user.
    package init(path: String, isGuarded: Bool = false, isChecked: Bool = false) {
        do throws(ConfigurationProblem) {
            let text = try ConfigurationFile.text(of: path) {
                isGuarded ? nil : Self.flaw(of: $0, isOwnerFree: isChecked && geteuid() == 0)
            }
            self.init(path: path, text: text ?? "")
        } catch {
            self.init(path: path, text: "")
            problems = [error]
        }
    }

    /// Takes a text for the contents of the file at `path`.
    package init(path: String, text: String) {
        self.path = path
        let toml = TOMLReader(text)
        problems = toml.flaws.sorted { $0.key < $1.key }.map {
            ConfigurationProblem("\(path):\($0.key)", $0.value.message)
        }
        for item in toml.items
        where item.key[0] != "credentials" || item.key.count == 1 && item.value != .array([.table]) {
            problems.append(
                ConfigurationProblem(
                    "\(path):\(item.line)", "This file may only contain [[credentials]] tables, in double brackets."))
            break
        }
        guard problems.isEmpty else { return }
        for (line, items) in toml.elements(of: "credentials") {
            var element = TableElement("credentials", in: path, at: line, items, keys: Self.keys)
            let credential = Credential(&element)
            problems += element.problems
            if let credential { credentials.entries.append(credential) }
        }
    }

    /// What is wrong with the file's mode or owner, as a sentence; `nil` if only the agent's user and root can read it.
    private static func flaw(of status: stat, isOwnerFree: Bool) -> String? {
        if !isOwnerFree, status.st_uid != geteuid(), status.st_uid != 0 {
            return "The file belongs to another user, who can read and change it: chown it to the user that the agent "
                + "runs as, or to root."
        }
        if status.st_mode & 0o077 != 0 {
            return "Others can read or change the file: its mode must be 0600 (chmod 600)."
        }
        return nil
    }
}

extension Credential {
    /// Reads an element of `[[credentials]]`; `nil` if it has problems, which are then recorded in `element`.
    fileprivate init?(_ element: inout TableElement) {
        var host: String?
        if let text = element.text("host") {
            host = Self.host(text)
            if host == nil {
                element.report("“host” must be one host name or address, without scheme, port or wildcard.", at: "host")
            }
        } else if !element.has("host") {
            element.report("“host” is missing: a credential is for one host.", at: "host")
        }
        let port = element.number("port", in: 1...65_535)
        let path = element.text("path")
        if let path, !path.starts(withBytes: "/") || Self.isAmbiguous(path) || !Self.isPath(path) {
            element.report("“path” must be the start of a URL path in encoded form, such as /private/.", at: "path")
        }
        let lists = element.texts("lists")?.map { ListName($0) }
        if let other = lists?.first(where: { !$0.isAppList || $0.text.utf8.contains { "*?/".utf8.contains($0) } }) {
            element.report("“\(other)” in “lists” is not the name of a list, such as intranet.plist.", at: "lists")
        }
        if !element.has("lists") {
            element.report(
                "“lists” is missing: name the lists whose icons may use it, as lists = [\"intranet.plist\"].",
                at: "lists")
        }
        let (isPublic, allowsHTTP) = (element.flag("public") ?? false, element.flag("http") ?? false)
        let proof = Proof(&element)
        guard element.problems.isEmpty, let host, let lists, let proof else { return nil }
        self.init(
            host: host, port: port, path: path, lists: Set(lists), isPublic: isPublic,
            allowsHTTP: allowsHTTP, proof: proof)
    }

    /// A host in the form that URLs have; `nil` if the text is no host.
    private static func host(_ text: String) -> String? {
        let written = text.utf8.contains(UInt8(ascii: ":")) ? "[\(text)]" : text
        guard let target = try? FetchTarget("https://\(written)/"), target.port == 443,
            target.url.utf8.count == 9 + written.utf8.count
        else { return nil }
        return target.host
    }

    private static func isPath(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"?#".utf8.contains($0) }
    }
}

extension Credential.Proof {
    /// The kinds of credentials, each with its keys.
    fileprivate static let forms = [["user", "password"], ["bearer"], ["header", "value"], ["certificate", "key"]]
    /// Fields that the agent or libcurl sets, or that would change the meaning of a request.
    private static let reserved: Set<String> = [
        "accept", "accept-encoding", "connection", "content-length", "expect", "host", "if-match", "if-modified-since",
        "if-none-match", "if-range", "if-unmodified-since", "keep-alive", "proxy-authorization", "proxy-connection",
        "range", "te", "trailer", "transfer-encoding", "upgrade", "user-agent",
    ]

    fileprivate init?(_ element: inout TableElement) {
        let used = Self.forms.filter { $0.contains(where: element.has) }
        guard used.count == 1, used[0].allSatisfy(element.has) else {
            let forms = Self.forms.map { $0.joined(separator: " and ") }.joined(separator: ", or ")
            element.report("A credential takes either \(forms).", at: used.first?[0] ?? "")
            return nil
        }
        let texts = used[0].map { element.text($0) }
        guard let first = texts[0], texts.allSatisfy({ $0 != nil }), let last = texts.last ?? nil else { return nil }
        switch used[0][0] {
        case "user":
            // A user name must not contain a colon (RFC 7617, section 2).
            guard !first.utf8.contains(UInt8(ascii: ":")), Self.isValue(first), Self.isValue(last) else {
                element.report(
                    "“user” must not contain a colon, and neither may contain control characters.", at: "user")
                return nil
            }
            self = .basic(user: first, password: Secret(last))
        case "bearer":
            guard first.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                element.report(
                    "“bearer” must be an ASCII token without spaces and without the prefix “Bearer”.", at: "bearer")
                return nil
            }
            self = .bearer(Secret(first))
        case "header":
            guard Self.isFieldName(first), !Self.reserved.contains(first.asciiLowercased) else {
                element.report(
                    "“header” must be the name of a header field that the agent does not set itself.", at: "header")
                return nil
            }
            guard Self.isValue(last), last.utf8.first != UInt8(ascii: " "), last.utf8.last != UInt8(ascii: " ") else {
                element.report(
                    "“value” must not contain control characters, or begin or end with a space.", at: "value")
                return nil
            }
            self = .header(name: first, value: Secret(last))
        default:
            guard first.starts(withBytes: "/"), last.starts(withBytes: "/") else {
                element.report("“certificate” and “key” must be absolute paths of PEM files.", at: "certificate")
                return nil
            }
            self = .certificate(ClientCertificate(file: first, key: last))
        }
    }

    private static func isValue(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }

    /// Whether a text is a token (RFC 9110, section 5.6.2).
    private static func isFieldName(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0.isLetter || $0.isDigit || "!#$%&'*+-.^_`|~".utf8.contains($0) }
    }
}
