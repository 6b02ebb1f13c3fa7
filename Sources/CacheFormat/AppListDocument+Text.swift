// SPDX-License-Identifier: Apache-2.0

extension AppListDocument {
    /// The JSON text: keys in a fixed order, one app per line.
    package var text: [UInt8] {
        var text = JSONText(capacity: 300 * (apps.count + 1))
        text.literal("{ \"format\": ")
        text.number(CacheLayout.format)
        text.literal(", \"list\": ")
        text.string(list.text)
        text.literal(", \"source\": { \"sha256\": ")
        text.digest(source.sha256)
        text.literal(", \"bytes\": ")
        text.number(source.bytes)
        text.literal(", \"modified\": ")
        text.string(source.modified.description)
        text.literal(" }, \"apps\": [")
        for (index, app) in apps.enumerated() {
            text.newLine(isFirst: index == 0)
            app.write(to: &text)
        }
        if apps.isEmpty { text.literal("] }\n") } else { text.literal("\n] }\n") }
        return text.bytes
    }

    package var json: String { String(decoding: text, as: UTF8.self) }
}

extension AppListDocument.App {
    fileprivate func write(to text: inout JSONText) {
        text.literal("{ ")
        if let name {
            text.literal("\"name\": ")
            text.string(name)
            text.literal(", ")
        }
        if let id {
            text.literal("\"id\": ")
            text.string(id)
            text.literal(", ")
        }
        text.literal("\"icon\": ")
        text.string(icon.text)
        if let download {
            text.literal(", \"download\": ")
            text.string(download)
        }
        if let expected {
            text.literal(", \"expected\": ")
            text.digest(expected)
        }
        switch state {
        case .ready(let image):
            text.literal(", \"status\": \"ready\", \"path\": ")
            image.write(to: &text, withType: true)
            if hasPrevious, let previous { previous.write(to: &text) }
            if case .some(_, let renditions) = rest, !renditions.isEmpty { Self.write(renditions, to: &text) }
        case .pending:
            text.literal(", \"status\": \"pending\"")
        case .failed(let error):
            text.literal(", \"status\": \"failed\", \"error\": ")
            text.string(error)
        }
        text.literal(" }")
    }
}

extension AppListDocument.App {
    private static func write(_ renditions: [AppListDocument.Rendition], to text: inout JSONText) {
        text.literal(", \"renditions\": { ")
        for index in renditions.indices {
            if index > 0 { text.literal(", ") }
            text.string(renditions[index].size.description)
            text.literal(": { \"path\": ")
            renditions[index].image.write(to: &text, withType: false)
            text.literal(" }")
        }
        text.literal(" }")
    }
}

extension AppListDocument.Image {
    /// Appends the image's path and its other members.
    fileprivate func write(to text: inout JSONText, withType: Bool) {
        writePath(to: &text)
        text.literal(", \"sha256\": ")
        text.digest(sha256)
        text.literal(", \"bytes\": ")
        text.number(bytes)
        if withType {
            text.literal(", \"type\": ")
            text.string(type)
        }
        text.literal(", \"width\": ")
        text.number(width)
        text.literal(", \"height\": ")
        text.number(height)
    }
}

extension AppListDocument.Previous {
    fileprivate func write(to text: inout JSONText) {
        text.literal(", \"previous\": ")
        text.string(icon.text)
        if let since {
            text.literal(", \"previousSince\": ")
            text.string(since.description)
        }
        if let error {
            text.literal(", \"error\": ")
            text.string(error)
        }
    }
}
