// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
package import SystemPackage

/// An article of the documentation, whose examples are held against what is so.
package struct Article {
    /// The text, as Markdown.
    package let text: String

    /// Reads an article of the library for readers.
    ///
    /// - Parameter name: The file's name, without `.md`.
    /// - Throws: An error if it cannot be read.
    package init(_ name: String) throws {
        let path = Self.project.pushing(FilePath("Sources/IconCache/IconCache.docc/\(name).md"))
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

    /// The folder of the whole project.
    package static var project: FilePath {
        FilePath(#filePath).removingLastComponent().removingLastComponent().removingLastComponent()
    }
}
