// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import TestSupport
import Testing

@Suite("The README and the articles")
struct DocumentationTests {
    /// The README and every article, by their paths in the project.
    private static let documents = ["README.md"] + catalogs.flatMap(articles)

    private static let catalogs = ["Sources/IconCache/IconCache.docc", "Sources/SyncAgent/SyncAgent.docc"]

    private static func articles(of catalog: String) -> [String] {
        let files = (try? FileManager.default.subpathsOfDirectory(atPath: path(of: catalog))) ?? []
        return files.filter { $0.hasSuffix(".md") }.sorted().map { "\(catalog)/\($0)" }
    }

    private static func path(of name: String) -> String { "\(Article.project)/\(name)" }

    private static func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(of: name)) }

    private static func text(of document: String) throws -> String {
        try String(contentsOfFile: path(of: document), encoding: .utf8)
    }

    /// The article's name in links.
    private static func name(of article: String) -> String {
        String(article.split(separator: "/").last?.dropLast(3) ?? "")
    }

    /// The articles of its own catalog that a text links to.
    private static func links(in text: some StringProtocol) -> [String] {
        String(text).matches(of: /[<(]doc:([^>)#]+)/).map { String($0.1) }
    }

    @Test("files and test suites that they name exist", arguments: documents)
    func files(document: String) throws {
        for match in try Self.text(of: document).matches(of: /`([^`\n]+)`/) {
            let name = String(match.1.prefix { $0 != " " })
            // The recipes have placeholders for what is new.
            guard !name.contains(/NAME|Name|YYYY/) else { continue }
            if name.contains(/^(Sources|Tests|Packaging|\.ci)\//) {
                #expect(Self.exists(name), "\(document) names \(name)")
            } else if name.contains(/^([A-Za-z]+Tests|Fuzz)\/[A-Za-z0-9\/+]+$/) {
                #expect(Self.exists("Tests/\(name).swift"), "\(document) names \(name)")
            }
        }
    }

    @Test("Architecture has a row for each module, and for nothing else")
    func modules() throws {
        let article = try Self.text(of: "Sources/SyncAgent/SyncAgent.docc/Architecture.md")
        let rows = article.split(separator: "\n").drop { $0 != "| Module | Subject |" }.dropFirst(2)
        let named = rows.prefix { $0.hasPrefix("|") }.flatMap { row in
            row.split(separator: "|")[0].matches(of: /`(\w+)`/).map { String($0.1) }
        }
        let package = try Self.text(of: "Package.swift")
        let targets = package.matches(of: /\.(target|executableTarget|systemLibrary)\(\s*name: "(\w+)"/)
            .map { String($0.2) }.filter { Self.exists("Sources/\($0)") || Self.exists("Sources/Bindings/\($0)") }
        #expect(named.sorted() == targets.sorted())
    }

    @Test("links lead to something", arguments: documents)
    func links(document: String) throws {
        let text = try Self.text(of: document)
        let articles = Self.catalogs.filter(document.hasPrefix).flatMap(Self.articles).map(Self.name)
        for link in Self.links(in: text) { #expect(articles.contains(link), "\(document) links to \(link)") }
        guard document == "README.md" else { return }
        let files = text.matches(of: /\]\(([^):#]+)\)/).map { String($0.1) }
        #expect(files.count > 10)
        for file in files { #expect(Self.exists(file), "\(document) links to \(file)") }
    }

    @Test("every article is among the topics of its catalog", arguments: catalogs)
    func topics(catalog: String) throws {
        let articles = Self.articles(of: catalog)
        var linked: Set = [String(Self.name(of: catalog + ".md").prefix { $0 != "." })]
        for article in articles {
            let parts = try Self.text(of: article).split(separator: "\n## Topics\n", maxSplits: 1)
            if parts.count == 2 { linked.formUnion(Self.links(in: parts[1])) }
        }
        #expect(Set(articles.map(Self.name)).subtracting(linked).isEmpty)
    }
}
