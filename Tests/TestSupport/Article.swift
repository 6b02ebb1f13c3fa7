// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
package import SystemPackage

/// An article of the documentation, whose examples are held against what is so.
package struct Article {
    /// The text, as Markdown.
    package let text: String

    /// Reads an article.
    ///
    /// - Parameters:
    ///   - name: The file's name, without `.md`.
    ///   - module: The module that it is about. The default is the library for readers.
    /// - Throws: An error if it cannot be read.
    package init(_ name: String, of module: String = "IconCache") throws {
        let path = Self.project.pushing(FilePath("Sources/\(module)/\(module).docc/\(name).md"))
        text = try String(contentsOfFile: path.string, encoding: .utf8)
    }

    /// The examples in a language.
    ///
    /// - Parameter language: As it stands behind the three marks that begin the example.
    /// - Returns: Them in the order of the article; each ends with a newline.
    package func examples(in language: String) -> [String] {
        text.split(separator: "\n```\(language)\n").dropFirst().compactMap { part in
            part.split(separator: "```", maxSplits: 1).first.map(String.init)
        }
    }

    /// The first column of the table in a section, without its heading and without backticks.
    package func firstColumn(ofTableIn section: String) -> [String] {
        let sections = text.split(separator: "\n## ")
        guard let section = sections.first(where: { $0.hasPrefix("\(section)\n") }) else { return [] }
        return section.split(separator: "\n").filter { $0.hasPrefix("|") }.dropFirst(2).map { row in
            let cell = row.split(separator: "|", maxSplits: 1)[0].drop { $0 == " " }
            let parts = cell.split(separator: "`", omittingEmptySubsequences: false)
            // What is not just a code stays as it is.
            let isCode = parts.count == 3 && parts[0].isEmpty && parts[2].allSatisfy { $0 == " " }
            return String(isCode ? parts[1] : cell)
        }
    }

    /// The folder of the whole project.
    package static var project: FilePath {
        FilePath(#filePath).removingLastComponent().removingLastComponent().removingLastComponent()
    }
}
