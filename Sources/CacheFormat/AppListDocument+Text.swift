// SPDX-License-Identifier: Apache-2.0

extension AppListDocument {
    /// The JSON text: keys in a fixed order, one app a line.
    package var text: [UInt8] {
        var text = JSONText(capacity: 300 * (apps.count + 1))
        text.words("{ \"format\": ")
        text.number(CacheLayout.format)
        text.words(", \"list\": ")
        text.string(list.text)
        text.words(", \"source\": { \"sha256\": ")
        text.digest(source.sha256)
        text.words(", \"bytes\": ")
        text.number(source.bytes)
        text.words(", \"modified\": ")
        text.string(source.modified.description)
        text.words(" }, \"apps\": [")
        for (index, app) in apps.enumerated() {
            text.newLine(isFirst: index == 0)
            app.write(to: &text)
        }
        if apps.isEmpty { text.words("] }\n") } else { text.words("\n] }\n") }
        return text.bytes
    }

    /// The same as a string.
    package var json: String { String(decoding: text, as: UTF8.self) }
}

extension AppListDocument.App {
    /// Writes the entry as the document has it, on one line.
    fileprivate func write(to text: inout JSONText) {
        text.words("{ ")
        if let name {
            text.words("\"name\": ")
            text.string(name)
            text.words(", ")
        }
        text.words("\"icon\": ")
        text.string(icon.text)
        if let download {
            text.words(", \"download\": ")
            text.string(download)
        }
        if let expected {
            text.words(", \"expected\": ")
            text.digest(expected)
        }
        switch state {
        case .ready(let image):
            text.words(", \"status\": \"ready\", \"path\": ")
            text.string(image.path)
            text.words(", \"sha256\": ")
            text.digest(image.sha256)
            text.words(", \"bytes\": ")
            text.number(image.bytes)
            text.words(", \"type\": ")
            text.string(image.type)
            text.words(", \"width\": ")
            text.number(image.width)
            text.words(", \"height\": ")
            text.number(image.height)
        case .pending:
            text.words(", \"status\": \"pending\"")
        case .failed(let error):
            text.words(", \"status\": \"failed\", \"error\": ")
            text.string(error)
        }
        text.words(" }")
    }
}
