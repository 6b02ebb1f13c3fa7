// SPDX-License-Identifier: Apache-2.0
import CacheFormat

extension SettingKey {
    static func duration(
        _ name: String, _ path: any WritableKeyPath<Settings, Duration> & Sendable, atLeast minimum: Duration = .zero,
        _ summary: String
    ) -> SettingKey {
        let (least, longest) = (DurationText.format(minimum), DurationText.format(DurationText.longest))
        return value(
            name, "a whole number with its unit (ms, s, m, h, d), from \(least) to \(longest)",
            minimum > .zero ? "duration, at least \(least)" : "duration", path, summary,
            { text in DurationText.parse(text).flatMap { $0 >= minimum ? $0 : nil } }, DurationText.format)
    }

    static func bytes(
        _ name: String, _ path: any WritableKeyPath<Settings, ByteCount> & Sendable,
        upTo limit: ByteCount = .mebibytes(1024), _ summary: String
    ) -> SettingKey {
        value(
            name, "a size from 1 B to \(limit) (B, KiB, MiB, GiB)", "size, up to \(limit)", path, summary,
            { text in ByteCount(text).flatMap { $0.bytes > 0 && $0 <= limit ? $0 : nil } },
            { $0.description.replacing(" ", with: "") })
    }

    /// A setting for a size that may be missing; an empty text means none.
    static func optionalBytes(
        _ name: String, _ path: any WritableKeyPath<Settings, ByteCount?> & Sendable, atLeast minimum: ByteCount,
        upTo limit: ByteCount = .mebibytes(1024), _ summary: String
    ) -> SettingKey {
        optional(
            name, "a size from \(minimum) to \(limit) (B, KiB, MiB, GiB)", "size, \(minimum) to \(limit)", path,
            summary,
            { text in ByteCount(text).flatMap { $0 >= minimum && $0 <= limit ? $0 : nil } },
            { $0.description.replacing(bytes: " ", with: "") })
    }

    static func count(
        _ name: String, _ path: any WritableKeyPath<Settings, Int> & Sendable, _ range: ClosedRange<Int>,
        _ summary: String
    ) -> SettingKey {
        value(
            name, kind: .number, "a whole number from \(range.lowerBound) to \(range.upperBound)",
            "number, \(range.lowerBound) to \(range.upperBound)", path, summary,
            { text in Int(text).flatMap { range.contains($0) ? $0 : nil } }, \.description)
    }

    static func flag(
        _ name: String, _ path: any WritableKeyPath<Settings, Bool> & Sendable, effect: Effect = .reload,
        _ summary: String
    ) -> SettingKey {
        value(name, kind: .flag, "true or false", "flag", path, effect: effect, summary, { Bool($0) }, \.description)
    }

    static func listen(
        _ name: String, _ path: any WritableKeyPath<Settings, ListenAddress?> & Sendable, onlyLoopback: Bool,
        _ summary: String
    ) -> SettingKey {
        let kind = onlyLoopback ? "loopback address" : "address"
        return optional(
            name, "\(onlyLoopback ? "a" : "an") \(kind) with a port, such as 127.0.0.1:8080 or [::1]:8080",
            "\(kind) with a port", path, effect: .restart, summary,
            { text in ListenAddress(text).flatMap { $0.isLoopback || !onlyLoopback ? $0 : nil } }, \.description)
    }

    /// A setting with one value; `parse` returns `nil` for invalid text.
    static func value<Value>(
        _ name: String, kind: Kind = .text, _ form: String, _ label: String,
        _ path: any WritableKeyPath<Settings, Value> & Sendable, effect: Effect = .reload, _ summary: String,
        _ parse: @escaping @Sendable (String) -> Value?, _ format: @escaping @Sendable (Value) -> String
    ) -> SettingKey {
        SettingKey(
            name: name, kind: kind, form: form, label: label, absence: "none", effect: effect, summary: summary,
            read: { parts, settings in
                guard let value = parse(parts[0]) else { return parts[0] }
                settings[keyPath: path] = value
                return nil
            }, show: { [format($0[keyPath: path])] })
    }

    /// A setting for a text that may be missing; an empty text means none.
    static func optional(
        _ name: String, _ form: String, _ label: String,
        _ path: any WritableKeyPath<Settings, String?> & Sendable, effect: Effect = .reload,
        absence: String = "none", _ summary: String, _ isValid: @escaping @Sendable (String) -> Bool
    ) -> SettingKey {
        optional(
            name, form, label, path, effect: effect, absence: absence, summary, { isValid($0) ? $0 : nil }, \.self)
    }

    /// A setting of another type whose value may be missing; `parse` returns `nil` for invalid text.
    private static func optional<Value>(
        _ name: String, _ form: String, _ label: String, _ path: any WritableKeyPath<Settings, Value?> & Sendable,
        effect: Effect = .reload, absence: String = "none", _ summary: String,
        _ parse: @escaping @Sendable (String) -> Value?, _ format: @escaping @Sendable (Value) -> String
    ) -> SettingKey {
        SettingKey(
            name: name, kind: .text, form: form, label: label, absence: absence, effect: effect, summary: summary,
            read: { parts, settings in
                let value = parts[0].isEmpty ? nil : parse(parts[0])
                guard value != nil || parts[0].isEmpty else { return parts[0] }
                settings[keyPath: path] = value
                return nil
            }, show: { $0[keyPath: path].map { [format($0)] } ?? [] })
    }

    static func list<Element>(
        _ name: String, _ form: String, _ label: String,
        _ path: any WritableKeyPath<Settings, [Element]> & Sendable, atMost limit: Int = .max,
        effect: Effect = .reload, _ summary: String,
        _ parse: @escaping @Sendable (String) -> Element?, _ format: @escaping @Sendable (Element) -> String
    ) -> SettingKey {
        SettingKey(
            name: name, kind: .list, form: form, label: "list of \(label)", absence: "none", effect: effect,
            summary: summary,
            read: { parts, settings in
                var values: [Element] = []
                for part in parts {
                    guard let value = parse(part) else { return part }
                    values.append(value)
                    if values.count > limit { return part }
                }
                settings[keyPath: path] = values
                return nil
            }, show: { $0[keyPath: path].map(format) })
    }
}
