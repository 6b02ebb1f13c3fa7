// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Testing

@testable import AgentSettings
@testable import HTTPRules

@Suite("Credentials")
struct CredentialsTests {
    private static func credential(
        _ host: String = "a.example", port: Int? = nil, path: String? = nil, lists: Set<ListName> = ["own.plist"],
        isPublic: Bool = true, allowsHTTP: Bool = false, token: String = "T"
    ) -> Credential {
        Credential(
            host: host, port: port, path: path, lists: lists, isPublic: isPublic, allowsHTTP: allowsHTTP,
            proof: .bearer(Secret(token)))
    }

    @Test(
        "a URL needs a credential if host, port and path are its own",
        arguments: [
            (nil, nil, "https://a.example/x.png", true), (nil, nil, "https://A.EXAMPLE:443/", true),
            (nil, nil, "https://a.example", true), (nil, nil, "https://a.example?x", true),
            (nil, nil, "http://a.example/x", true), (nil, nil, "https://a.example:8443/x", false),
            (nil, nil, "https://a.example./x", false), (nil, nil, "https://b.a.example/x", false),
            (8443, nil, "https://a.example:8443/x", true), (8443, nil, "https://a.example/x", false),
            (443, nil, "http://a.example:443/x", true), (443, nil, "http://a.example/x", false),
            (nil, "/in", "https://a.example/in", true), (nil, "/in", "https://a.example/in/x", true),
            (nil, "/in", "https://a.example/in?x", true), (nil, "/in", "https://a.example/inside", false),
            (nil, "/in/", "https://a.example/in/x", true), (nil, "/in/", "https://a.example/in", false),
            (nil, "/in", "https://a.example/x?/in", false), (nil, "/in", "https://a.example?/in", false),
            (nil, "/in", "https://a.example/IN/x", false), (nil, "/in", "https://a.example/%69n/x", false),
            // Requests have no dot segments.
            (nil, "/in", "https://a.example/in/../out", false), (nil, "/in", "https://a.example/in/./x", true),
            (nil, "/in", "https://a.example/out/%2e%2E/in/x", true), (nil, "/in", "https://a.example/in/%2e", true),
            (nil, "/in", "https://a.example/in/x/../..", false), (nil, "/in", "https://a.example/in/x/..", true),
            (nil, "/in", "https://a.example/in//x", false), (nil, "/in", "https://a.example/in/a%2fb", false),
            (nil, "/in", "https://a.example/in/a%5cb", false), (nil, "/in", "https://a.example/in/..x", true),
            (nil, "/in", "https://a.example/in/.;v=1/x", false), (nil, "/in", "https://a.example/in/50%25/x", false),
            (nil, "/in", "https://a.example/in/a;b", true),
            (nil, "/in", "https://a.example/in/x/", true), (nil, "/", "https://a.example/x", true),
        ] as [(Int?, String?, String, Bool)])
    func matches(port: Int?, path: String?, url: String, isOwn: Bool) throws {
        #expect(Self.credential(port: port, path: path).matches(try FetchTarget(url)) == isOwn)
    }

    @Test(
        "the first credential for a list of the icon is used, over https, for private icons only",
        arguments: [
            ("https://a.example/1/x", ["own.plist"], nil, "one"), ("https://a.example/2/x", ["own.plist"], nil, "two"),
            ("https://a.example/1/x", ["other.plist"], nil, "any"), ("https://b.example/x", ["own.plist"], nil, "none"),
            ("https://a.example/1/x", ["a.plist", "other.plist"], nil, "any"),
            ("https://a.example/1/x", ["a.plist"], nil, "refused"), ("https://a.example/1/x", [], nil, "refused"),
            ("http://a.example/1/x", ["own.plist"], nil, "refused"), ("http://b.example/x", [], nil, "none"),
            ("http://local.example/x", ["own.plist"], nil, "local"),
            ("http://secure.example/x", ["own.plist"], nil, "refused"),
            ("http://far.example/x", ["own.plist"], nil, "refused"),
            ("https://a.example/2/x", ["own.plist"], "serve.listen", "two"),
            ("https://a.example/1/x", ["own.plist"], "serve.listen", "refused"),
        ] as [(String, [ListName], String?, String)])
    func choice(url: String, lists: [ListName], exposure: String?, expected: String) throws {
        let credentials = Credentials([
            Self.credential(path: "/1", isPublic: false, token: "one"), Self.credential(path: "/2", token: "two"),
            Self.credential(lists: ["other.plist"], token: "any"),
            Self.credential("local.example", allowsHTTP: true, token: "local"),
            Self.credential("secure.example", token: "secure"), Self.credential("far.example", allowsHTTP: true),
        ])
        let network = NetworkRules(allowHosts: ["local.example", "secure.example"].compactMap { HostPattern($0) })
        let target = try FetchTarget(url)
        let chosen: String
        do throws(FetchFailure) {
            let choice = try credentials.choose(for: target, lists: lists, under: network, exposure: exposure)
            chosen = choice?.field.map { String($0.value.dropFirst("Bearer ".count)) } ?? "none"
        } catch {
            #expect(error.code == .fetch(.authRefused) && error.persistence == .refused)
            chosen = "refused"
        }
        #expect(chosen == expected)
    }

    @Test("the secret of a credential is in the sent field, and in no description, dump or report")
    func secrecy() {
        let proofs: [(Credential.Proof, name: String, value: String, kind: String)] = [
            (.basic(user: "u", password: Secret("s3cr3t:ü")), "Authorization", "Basic dTpzM2NyM3Q6w7w=", "basic"),
            (.bearer(Secret("s3cr3t")), "Authorization", "Bearer s3cr3t", "bearer"),
            (.header(name: "X-Key", value: Secret("s3cr3t")), "X-Key", "s3cr3t", "X-Key"),
        ]
        for (proof, name, value, kind) in proofs {
            let credential = Credential(host: "::1", port: 8443, path: "/x", lists: ["a.plist"], proof: proof)
            #expect(credential.field?.name == name && credential.field?.value == value)
            #expect("\(credential)" == "\(kind) for [::1]:8443/x")
            var settings = Settings()
            settings.credentials = Credentials([credential])
            var dumped = ""
            dump(settings.credentials, to: &dumped)
            for text in [dumped, "\(proof)", String(reflecting: settings), "\(settings.credentials)"] {
                #expect(!text.contains("s3cr3t"))
            }
        }
    }

    // MARK: Downloads

    private static func download(_ url: String, lists: [ListName] = ["own.plist"]) throws -> Download {
        var settings = Settings()
        settings.cache.mode = .group
        settings.credentials = Credentials([
            credential(path: "/in", token: "A"), credential("b.example", token: "B"),
            credential("c.example", lists: ["c.plist"], token: "C"),
        ])
        var request = FetchRequest(url: IconURL(url), source: try IconSource(IconURL(url)), reason: .notCached)
        request.lists = lists
        return try Download(request, at: FetchTarget(url), from: nil, rules: Download.Rules(settings))
    }

    /// Sends the next request; returns the token in it, and what follows the answer.
    private static func exchange(
        _ download: inout Download, _ status: Int, to location: String? = nil
    ) -> (token: String?, end: FetchFailure?) {
        download.begin(through: nil)
        let token = download.fields(allowedBy: nil, now: Sample.start).first { $0.name == "Authorization" }?.value
        let fields = location.map { [(name: "Location", value: $0)] } ?? []
        let step = download.answered(ResponseHead(status: status, fields: HTTPFields(fields)), now: Sample.start)
        if case .end(.failed(let failure)) = step { return (token, failure) }
        return (token, nil)
    }

    @Test("each hop of a redirect gets its own credential; one for other lists ends the download")
    func redirects() throws {
        var download = try Self.download("https://a.example/in/1")
        #expect(Self.exchange(&download, 302, to: "/in/2").token == "Bearer A")
        #expect(Self.exchange(&download, 302, to: "/out").token == "Bearer A")
        #expect(Self.exchange(&download, 302, to: "https://b.example/").token == nil)
        #expect(Self.exchange(&download, 302, to: "https://d.example/").token == "Bearer B")
        #expect(Self.exchange(&download, 302, to: "https://a.example/in/3").token == nil)
        #expect(Self.exchange(&download, 302, to: "https://d.example/2").token == "Bearer A")
        let (token, end) = Self.exchange(&download, 302, to: "https://c.example/")
        #expect(token == nil && end?.code == .fetch(.authRefused) && end?.persistence == .lasting)
        let told = download.trail?.hops.map(\.credential)
        #expect(
            told == [
                "bearer for a.example/in", "bearer for a.example/in", nil, "bearer for b.example", nil,
                "bearer for a.example/in", nil,
            ])
    }

    @Test("a credential refuses lists that it does not name before a request")
    func otherList() {
        #expect(throws: FetchFailure.self) { try Self.download("https://a.example/in/1", lists: ["b.plist"]) }
        #expect(throws: Never.self) { try Self.download("https://a.example/out", lists: ["b.plist"]) }
    }

    @Test(
        "401 and 403 to a credential are auth-refused; other answers, and those without one, stay what they are",
        arguments: [
            ("https://a.example/in/1", 401, "auth-refused"), ("https://a.example/in/1", 403, "auth-refused"),
            ("https://a.example/in/1", 404, "http-404"), ("https://a.example/in/1", 407, "http-407"),
            ("https://a.example/out", 401, "http-401"), ("https://a.example/out", 403, "http-403"),
        ])
    func refusals(url: String, status: Int, code: String) throws {
        var download = try Self.download(url)
        let failure = try #require(Self.exchange(&download, status).end)
        #expect(failure.code.rawValue == code)
    }

    @Test(
        "a client error may end with another credential of the URL, and a closed connection with another certificate",
        arguments: [
            ("auth-refused", true, true), ("http-401", true, true), ("http-407", true, true), ("tls", true, true),
            ("http-400", true, false), ("http-403", true, false), ("http-404", true, false), ("http-410", true, false),
            ("http-496", true, false), ("http-408", false, false), ("http-423", false, false),
            ("http-429", false, false), ("http-500", false, false), ("timeout", false, false),
            ("connection-closed", false, false),
        ])
    func dependence(code: String, isOwn: Bool, isOther: Bool) throws {
        let code = try #require(FetchFailure.Code(rawValue: code))
        let credentials = Credentials([Self.credential(path: "/in")])
        #expect(credentials.mayDepend(code, of: "https://a.example/in/1", areNew: true) == isOwn)
        #expect(credentials.mayDepend(code, of: "https://a.example/out", areNew: true) == isOther)
        // With the same credentials, servers would be asked for all that they lack.
        #expect(credentials.mayDepend(code, of: "https://a.example/in/1") == (isOther || code == .http(403)))
        var certified = credentials
        certified.entries[0].proof = .certificate(ClientCertificate(file: "/c", key: "/k"))
        let isClosed = code == .fetch(.connectionClosed)
        #expect(certified.mayDepend(code, of: "https://a.example/in/1", areNew: true) == (isOwn || isClosed))
        #expect(certified.mayDepend(code, of: "https://a.example/out") == isOther)
    }

    @Test(
        "the statuses by which nginx refuses a client certificate are auth-refused only if one was sent",
        arguments: [400, 495, 496])
    func refusedCertificates(status: Int) throws {
        var settings = Settings()
        for (proof, code) in [
            (Credential.Proof.certificate(ClientCertificate(file: "/c", key: "/k")), "auth-refused"),
            (.bearer(Secret("T")), "http-\(status)"),
        ] {
            settings.credentials = Credentials([Self.credential()])
            settings.credentials.entries[0].proof = proof
            var request = FetchRequest(
                url: "https://a.example/1", source: try IconSource("https://a.example/1"), reason: .notCached)
            request.lists = ["own.plist"]
            var download = try Download(
                request, at: FetchTarget("https://a.example/1"), from: nil, rules: Download.Rules(settings))
            #expect(Self.exchange(&download, status).end?.code.rawValue == code)
        }
    }

    @Test("a copy of an upstream gets no credential of the origin")
    func copies() throws {
        var request = FetchRequest(
            url: "https://a.example/in/1", source: try IconSource("https://a.example/in/1"), reason: .notCached,
            copy: ImageCopy(
                folder: try FetchTarget("https://a.example/in/"), sha256: .of([]), bytes: 1, bypassesCaches: false))
        request.lists = ["own.plist"]
        var settings = Settings()
        settings.credentials = Credentials([Self.credential(path: "/in")])
        var download = try Download(
            request, at: FetchTarget("https://a.example/in/1"), from: nil, rules: Download.Rules(settings))
        #expect(Self.exchange(&download, 200).token == nil)
    }

    @Test("an origin counts as private from its first private credential until one for it says public")
    func privacy() {
        let (closed, open) = (Self.credential(isPublic: false), Self.credential(isPublic: true))
        let other = Self.credential("b.example", port: 1, path: "/x", isPublic: true)
        #expect(Credentials([closed, other]).privateOrigins(after: [], isExposed: false) == ["a.example"])
        #expect(Credentials([other]).privateOrigins(after: ["a.example"], isExposed: false) == ["a.example"])
        #expect(
            Credentials().privateOrigins(after: ["a.example", "b.example:1/x"], isExposed: false) == [
                "a.example", "b.example:1/x",
            ])
        #expect(
            Credentials([open]).privateOrigins(after: ["a.example", "b.example:1/x"], isExposed: false) == [
                "b.example:1/x"
            ])
        #expect(Credentials([open, closed]).privateOrigins(after: [], isExposed: false) == ["a.example"])
        #expect(Credentials([closed]).privateOrigins(after: ["x.example"], isExposed: true) == ["x.example"])
        #expect(Credentials([open, other]).privateOrigins(after: [], isExposed: false).isEmpty)
    }
}
