// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import Glibc
import HTTPRules
import SystemPackage
import TestSupport
import Testing

@Suite("The file of credentials")
struct CredentialsFileTests {
    private static let head = "[[credentials]]\nhost = \"h.example\"\nlists = [\"a.plist\"]\n"
    private static let secret = "s3cr3t"

    @Test("all kinds of credentials are read, in order")
    func kinds() {
        let file = CredentialsFile(
            path: "auth.toml",
            text: """
                # Two origins.
                [[credentials]]
                host = "H.example"
                port = 8443
                path = "/private/"
                http = true
                lists = ["a.plist", "b.plist"]
                user = "u"
                password = "p:w"
                [[credentials]]
                host = "10.0.0.1"
                lists = ["a.plist"]
                public = true
                bearer = "t"
                [[credentials]]
                host = "fd00::1"
                lists = ["a.plist"]
                header = "X-Key"
                value = "v w"
                [[credentials]]
                host = "h.example"
                lists = ["a.plist"]
                certificate = "/c.pem"
                key = "/k.pem"
                """)
        #expect(file.problems.isEmpty, "\(file.problems)")
        let lists: Set<ListName> = ["a.plist"]
        #expect(
            file.credentials.entries == [
                Credential(
                    host: "h.example", port: 8443, path: "/private/", lists: ["a.plist", "b.plist"], allowsHTTP: true,
                    proof: .basic(user: "u", password: Secret("p:w"))),
                Credential(host: "10.0.0.1", lists: lists, isPublic: true, proof: .bearer(Secret("t"))),
                Credential(host: "fd00::1", lists: lists, proof: .header(name: "X-Key", value: Secret("v w"))),
                Credential(
                    host: "h.example", lists: lists,
                    proof: .certificate(ClientCertificate(file: "/c.pem", key: "/k.pem"))),
            ])
        #expect(CredentialsFile(path: "auth.toml", text: "# none\n").credentials.isEmpty)
    }

    private static let forms =
        "A credential takes either user and password, or bearer, or header and value, or certificate and key."

    private static let badFiles: [(text: String, problems: [String])] = [
        (head, ["1: " + forms]), (head + "user = \"\(secret)\"", ["4: " + forms]),
        (head + "bearer = \"\(secret)\"\nuser = \"u\"\npassword = \"\(secret)\"", ["5: " + forms]),
        (
            "[[credentials]]\nbearer = \"\(secret)\"\nlists = [\"a.plist\"]",
            ["1: “host” is missing: a credential is for one host."]
        ),
        (
            "[[credentials]]\nhost = \"h\"\nbearer = \"\(secret)\"",
            ["1: “lists” is missing: name the lists whose icons may use it, as lists = [\"intranet.plist\"]."]
        ),
        (
            head + "bearer = \"\(secret)\"\ntoken = \"\(secret)\"",
            [
                "5: [[credentials]] has no key “token”: its keys are host, port, path, lists, public, http, user, password, bearer, header, value, certificate, key."
            ]
        ),
        (
            head + "baerer = \"\(secret)\"",
            ["4: [[credentials]] has no key “baerer”: did you mean bearer?", "1: " + forms]
        ),
        (head + "bearer = 5", ["4: “bearer” takes a string that is not empty."]),
        (head + "bearer = \"\"", ["4: “bearer” takes a string that is not empty."]),
        (
            head + "bearer = \"Bearer \(secret)\"",
            ["4: “bearer” must be an ASCII token without spaces and without the prefix “Bearer”."]
        ),
        (
            head + "user = \"a:b\"\npassword = \"\(secret)\"",
            ["4: “user” must not contain a colon, and neither may contain control characters."]
        ),
        (
            head + "header = \"Host\"\nvalue = \"\(secret)\"",
            ["4: “header” must be the name of a header field that the agent does not set itself."]
        ),
        (
            head + "header = \"A: b\"\nvalue = \"\(secret)\"",
            ["4: “header” must be the name of a header field that the agent does not set itself."]
        ),
        (
            head + "header = \"A\"\nvalue = \"\(secret)\\r\\nB: c\"",
            ["5: “value” must not contain control characters, or begin or end with a space."]
        ),
        (
            head + "certificate = \"c.pem\"\nkey = \"/k\"",
            ["4: “certificate” and “key” must be absolute paths of PEM files."]
        ),
        (head + "bearer = \"\(secret)\"\nport = 0", ["5: “port” takes a whole number from 1 to 65535."]),
        (head + "bearer = \"\(secret)\"\npublic = \"yes\"", ["5: “public” takes true or false."]),
        (
            head + "bearer = \"\(secret)\"\npath = \"private\"",
            ["5: “path” must be the start of a URL path in encoded form, such as /private/."]
        ),
        (
            head + "bearer = \"\(secret)\"\npath = \"/a/../b\"",
            ["5: “path” must be the start of a URL path in encoded form, such as /private/."]
        ),
        (
            "[[credentials]]\nhost = \"*.example\"\nlists = []\nbearer = \"\(secret)\"",
            [
                "2: “host” must be one host name or address, without scheme, port or wildcard.",
                "3: “lists” takes an array of strings that is not empty.",
            ]
        ),
        (
            "[[credentials]]\nhost = \"h\"\nlists = [\"*.plist\"]\nbearer = \"\(secret)\"",
            ["3: “*.plist” in “lists” is not the name of a list, such as intranet.plist."]
        ),
        (
            "[[credentials]]\nhost = \"h\"\nlists = [\"intranet\"]\nbearer = \"\(secret)\"",
            ["3: “intranet” in “lists” is not the name of a list, such as intranet.plist."]
        ),
        (
            head + "bearer = \"\(secret)\"\npath.x = \"/a\"",
            ["5: “path” takes a string that is not empty."]
        ),
        (
            "[credentials]\nbearer = \"\(secret)\"",
            ["1: This file may only contain [[credentials]] tables, in double brackets."]
        ),
        ("bearer = \"\(secret)\"", ["1: This file may only contain [[credentials]] tables, in double brackets."]),
        (
            head + "bearer = \(secret)",
            ["4: This is not TOML: the value is not a string in quotes, a 64-bit integer, true or false."]
        ),
        (head + "bearer = \"\(secret)", ["4: This is not TOML: the quotes at the end of a string are missing."]),
    ]

    @Test("a fault in the file of credentials is reported with its line, never with the secret", arguments: badFiles)
    func flaws(text: String, problems: [String]) {
        let file = CredentialsFile(path: "auth.toml", text: text)
        #expect(file.problems.map(\.description) == problems.map { "auth.toml:" + $0 })
        #expect(file.credentials.isEmpty)
        #expect(!file.problems.contains { "\($0)".contains(Self.secret) })
    }

    @Test(
        "a file of credentials must be unreadable to others, or in a folder closed to them",
        arguments: [(0o600, true), (0o400, true), (0o640, false), (0o604, false), (0o620, false)] as [(mode_t, Bool)])
    func mode(mode: mode_t, isAccepted: Bool) async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appending("auth.toml").string
            try write(Self.head + "bearer = \"\(Self.secret)\"", to: folder.appending("auth.toml"))
            try #require(chmod(path, mode) == 0)
            let file = CredentialsFile(path: path)
            #expect(file.problems.isEmpty == isAccepted && file.credentials.isEmpty != isAccepted)
            #expect(CredentialsFile(path: path, isGuarded: true).credentials.entries.count == 1)
            let missing = CredentialsFile(path: path + "x")
            #expect(missing.problems.isEmpty && missing.credentials.isEmpty)
        }
    }
}
