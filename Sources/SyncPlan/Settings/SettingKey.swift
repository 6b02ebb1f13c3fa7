// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import WebAddresses

/// A setting by its name (`fetch.maxBytes`): how it is read from text, and shown.
package struct SettingKey: Sendable {
    /// The name in the configuration: `fetch.maxBytes`.
    package let name: String
    private let form: String
    private let read: @Sendable (String, inout Settings) -> Bool
    private let show: @Sendable (Settings) -> String
    /// The part of a text that is not of the form, as it may be shown.
    private var flaw: @Sendable (String) -> String = { $0 }

    /// The environment variable that sets it: `SYNCAGENT_FETCH_MAX_BYTES`.
    package var variable: String {
        var variable = "SYNCAGENT_"
        var isInWord = false
        for character in name {
            // Several capitals together are one word: `images.allowSVG` is `SYNCAGENT_IMAGES_ALLOW_SVG`.
            if character.isUppercase, isInWord { variable += "_" }
            variable += character == "." ? "_" : character.uppercased()
            isInWord = character.isLowercase
        }
        return variable
    }

    /// The setting whose variable is spelled most like a text; `nil` if none is at all like it.
    package static func nearest(to variable: String) -> SettingKey? {
        guard variable.utf8.count <= 64 else { return nil }
        let distances = all.map { ($0, EditDistance.between(variable, $0.variable)) }
        return distances.min { $0.1 < $1.1 }.flatMap { $0.1 * 3 <= variable.utf8.count ? $0.0 : nil }
    }

    /// Sets it from text.
    ///
    /// - Throws: ``SettingError`` if the text is not of the setting's form, or out of its range.
    package func set(_ text: String, in settings: inout Settings) throws(SettingError) {
        guard read(text, &settings) else {
            throw SettingError(name: name, value: Self.shortened(flaw(text)), form: form)
        }
    }

    private static func shortened(_ text: String) -> String {
        text.utf8.count > 200 ? text.prefix(100) + "…" : text
    }

    /// The value as it would be written.
    package func value(in settings: Settings) -> String { show(settings) }
}

/// A setting whose text is not of its form.
package struct SettingError: Error, Equatable, CustomStringConvertible {
    package var name: String
    package var value: String
    package var form: String

    package var description: String { "“\(value)” is not a value for \(name): it takes \(form)." }
}

extension SettingKey {
    /// Every setting, in the order in which the documentation has them.
    package static let all: [SettingKey] = [
        .duration("lists.settle", \.lists.settle),
        .duration("lists.settleMax", \.lists.settleMax),
        .duration("lists.rescan", \.lists.rescan, atLeast: .milliseconds(100)),
        .duration("lists.rescanContent", \.lists.rescanContent, atLeast: .milliseconds(100)),
        .bytes("lists.maxBytes", \.lists.maxBytes, upTo: .mebibytes(64)),
        .count("lists.maxEntries", \.lists.maxEntries, 1...1_000_000),
        .list("lists.iconKeys", "keys, with commas between", \.lists.iconKeys, { $0.isEmpty ? nil : $0 }, { $0 }),
        .optional("lists.iconBaseURL", "an http or https URL such as https://example.com/icons/", \.lists.iconBaseURL) {
            IconBase($0) != nil
        },
        .duration("cache.grace", \.cache.grace),
        .duration("cache.leaseMax", \.cache.leaseMax),
        .value(
            "cache.mode", "0755 or 0750", \.cache.mode, CacheMode.init(rawValue:), \.rawValue),
        .value(
            "cache.minFree", "a share of the file system up to 90%, or a size (B, KiB, MiB, GiB)", \.cache.minFree,
            { SpaceReserve($0) }, \.description),
        .value(
            "eviction.holdAbove", "a share of all images, as 50% or 50% and 20 images", \.eviction.holdAbove,
            { HoldThreshold($0) }, \.description),
        .duration("eviction.holdFor", \.eviction.holdFor),
        .count("fetch.concurrency", \.fetch.concurrency, 1...1000),
        .count("fetch.perHost", \.fetch.perHost, 1...1000),
        .duration("fetch.connectTimeout", \.fetch.connectTimeout, atLeast: .milliseconds(1)),
        .duration("fetch.idleTimeout", \.fetch.idleTimeout, atLeast: .milliseconds(1)),
        .duration("fetch.totalTimeout", \.fetch.totalTimeout, atLeast: .milliseconds(1)),
        .bytes("fetch.maxBytes", \.fetch.maxBytes),
        .count("fetch.maxRedirects", \.fetch.maxRedirects, 0...100),
        .duration("fetch.retryBase", \.fetch.retryBase, atLeast: .milliseconds(1)),
        .duration("fetch.retryMax", \.fetch.retryMax, atLeast: .milliseconds(1)),
        SettingKey(
            name: "fetch.userAgent", form: "printable ASCII, at most 256 characters",
            read: { text, settings in
                guard (1...256).contains(text.utf8.count), text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) else {
                    return false
                }
                settings.fetch.userAgent = text
                return true
            }, show: { $0.fetch.userAgent }),
        .optional(
            "fetch.proxy", "a proxy with its port, such as http://proxy.example.com:3128", \.fetch.proxy,
            flaw: Proxy.withoutPassword
        ) { Proxy($0) != nil && Proxy.isExplicit($0) },
        .optional("fetch.caFile", "an absolute path", \.fetch.caFile) { $0.hasPrefix("/") },
        .flag("fetch.allowDowngrade", \.fetch.allowDowngrade),
        .list(
            "network.allow", "networks such as 10.0.0.0/8 or fd00::/8, with commas between", \.network.allow,
            { AddressRange($0) }, { $0.description }),
        .list("network.allowHosts", hosts, \.network.allowHosts, { HostPattern($0) }, { $0.description }),
        .list("network.denyHosts", hosts, \.network.denyHosts, { HostPattern($0) }, { $0.description }),
        .count("images.maxSide", \.images.maxSide, 1...65_535),
        .count("images.maxPixels", \.images.maxPixels, 1...1 << 32),
        .flag("images.allowSVG", \.images.allowSVG),
        .duration("refresh.minimum", \.refresh.minimum, atLeast: .seconds(1)),
        .duration("refresh.default", \.refresh.default, atLeast: .seconds(1)),
        .optional("control.group", "the name of a group", \.control.group) { text in
            text.utf8.count <= 32 && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x3A && $0 < 0x7F }
        },
        .value(
            "control.readers", "everyone or group", \.control.readers, { Settings.Control.Readers(rawValue: $0) },
            \.rawValue),
        .listen("dashboard.listen", \.dashboard.listen, onlyLoopback: true),
        .listen("serve.listen", \.serve.listen, onlyLoopback: false),
        .optional("metrics.textfile", "an absolute path that ends in .prom", \.metrics.textfile) {
            $0.hasPrefix("/") && $0.hasSuffix(".prom")
        },
        .listen("metrics.listen", \.metrics.listen, onlyLoopback: true),
    ]

    private static func listen(
        _ name: String, _ path: any WritableKeyPath<Settings, ListenAddress?> & Sendable, onlyLoopback: Bool
    ) -> SettingKey {
        let kind = onlyLoopback ? "a loopback address" : "an address"
        return value(
            name, "\(kind) with a port, such as 127.0.0.1:8080 or [::1]:8080", path,
            { text -> ListenAddress?? in
                if text.isEmpty { return .some(nil) }
                return ListenAddress(text).flatMap { !onlyLoopback || $0.isLoopback ? .some($0) : nil }
            }, { $0?.description ?? "" })
    }

    private static let hosts =
        "hosts in ASCII such as icons.example.com, .example.com, *.example.com or 10.1.2.3, with commas between"

    private static func duration(
        _ name: String, _ path: any WritableKeyPath<Settings, Duration> & Sendable, atLeast minimum: Duration = .zero
    ) -> SettingKey {
        value(
            name, "a whole number with its unit (ms, s, m, h, d), at least \(DurationText.format(minimum))", path,
            { text in DurationText.parse(text).flatMap { $0 >= minimum ? $0 : nil } }, DurationText.format)
    }

    private static func bytes(
        _ name: String, _ path: any WritableKeyPath<Settings, ByteCount> & Sendable,
        upTo limit: ByteCount = .mebibytes(1024)
    ) -> SettingKey {
        value(
            name, "a size from 1 B to \(limit) (B, KiB, MiB, GiB)", path,
            { text in ByteCount(text).flatMap { $0.bytes > 0 && $0 <= limit ? $0 : nil } }, \.description)
    }

    private static func count(
        _ name: String, _ path: any WritableKeyPath<Settings, Int> & Sendable, _ range: ClosedRange<Int>
    ) -> SettingKey {
        value(
            name, "a whole number from \(range.lowerBound) to \(range.upperBound)", path,
            { text in Int(text).flatMap { range.contains($0) ? $0 : nil } }, \.description)
    }

    private static func flag(_ name: String, _ path: any WritableKeyPath<Settings, Bool> & Sendable) -> SettingKey {
        value(name, "true or false", path, { Bool($0) }, \.description)
    }

    /// One whose text is that of one value; `parse` says `nil` for what is not of the form.
    private static func value<Value>(
        _ name: String, _ form: String, _ path: any WritableKeyPath<Settings, Value> & Sendable,
        _ parse: @escaping @Sendable (String) -> Value?, _ format: @escaping @Sendable (Value) -> String
    ) -> SettingKey {
        SettingKey(
            name: name, form: form,
            read: { text, settings in
                guard let value = parse(text) else { return false }
                settings[keyPath: path] = value
                return true
            }, show: { format($0[keyPath: path]) })
    }

    private static func optional(
        _ name: String, _ form: String, _ path: any WritableKeyPath<Settings, String?> & Sendable,
        flaw: @escaping @Sendable (String) -> String = { $0 }, _ isValid: @escaping @Sendable (String) -> Bool
    ) -> SettingKey {
        SettingKey(
            name: name, form: form,
            read: { text, settings in
                guard text.isEmpty || isValid(text) else { return false }
                settings[keyPath: path] = text.isEmpty ? nil : text
                return true
            }, show: { $0[keyPath: path] ?? "" }, flaw: flaw)
    }

    private static func list<Element>(
        _ name: String, _ form: String, _ path: any WritableKeyPath<Settings, [Element]> & Sendable,
        _ parse: @escaping @Sendable (String) -> Element?, _ format: @escaping @Sendable (Element) -> String
    ) -> SettingKey {
        SettingKey(
            name: name, form: form,
            read: { text, settings in
                let parts = parts(of: text)
                let values = parts.compactMap(parse)
                guard values.count == parts.count else { return false }
                settings[keyPath: path] = values
                return true
            }, show: { $0[keyPath: path].map(format).joined(separator: ",") },
            flaw: { text in parts(of: text).first { !$0.isEmpty && parse($0) == nil } ?? text })
    }

    private static func parts(of text: String) -> [String] {
        text.split(separator: ",").map { String($0.drop { $0 == " " }) }
    }
}
