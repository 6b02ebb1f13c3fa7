// SPDX-License-Identifier: Apache-2.0

extension AppListDocument {
    /// The JSON text: keys in a fixed order, one app per line.
    package var text: [UInt8] {
        var text = JSONText(capacity: 300 * (apps.count + 1))
        text.number(after: "{ \"format\": ", CacheLayout.format)
        text.string(after: ", \"list\": ", list.text)
        text.digest(after: ", \"source\": { \"sha256\": ", source.sha256)
        text.number(after: ", \"bytes\": ", source.bytes)
        text.string(after: ", \"modified\": ", source.modified.description)
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
            text.string(after: "\"name\": ", name)
            text.literal(", ")
        }
        if let id {
            text.string(after: "\"id\": ", id)
            text.literal(", ")
        }
        text.string(after: "\"icon\": ", icon.text)
        if let download { text.string(after: ", \"download\": ", download) }
        if let expected { text.digest(after: ", \"expected\": ", expected) }
        switch state {
        case .ready(let image):
            text.literal(", \"status\": \"ready\", \"path\": ")
            image.write(to: &text, withType: true)
            if hasPrevious, let previous { previous.write(to: &text) }
            if case .some(_, let renditions) = rest, !renditions.isEmpty { Self.write(renditions, to: &text) }
        case .pending:
            text.literal(", \"status\": \"pending\"")
        case .failed(let error):
            text.string(after: ", \"status\": \"failed\", \"error\": ", error)
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
        text.digest(after: ", \"sha256\": ", sha256)
        text.number(after: ", \"bytes\": ", bytes)
        if withType {
            text.string(after: ", \"type\": ", type)
        }
        text.number(after: ", \"width\": ", width)
        text.number(after: ", \"height\": ", height)
    }
}

extension AppListDocument.Previous {
    fileprivate func write(to text: inout JSONText) {
        text.string(after: ", \"previous\": ", icon.text)
        if let since { text.string(after: ", \"previousSince\": ", since.description) }
        if let error { text.string(after: ", \"error\": ", error) }
    }
}
