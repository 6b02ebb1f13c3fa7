// SPDX-License-Identifier: Apache-2.0
import Fleet

extension SettingKey {
    static let upstream: [SettingKey] = [
        .list(
            "upstream.urls",
            "at most 4 URLs such as https://icons.example.com/fleet/ or file:///media/usb/icons/ (name the folder, not a file in it), without a user name or a query",
            "URLs",
            \.upstream.urls, atMost: Settings.Upstream.maxCount,
            "Folders with a copy of another agent's cache, on servers, or on this machine as `file:///media/usb/icons/`. The agent looks for each icon there, in this order, before it asks the origin.",
            { UpstreamURL($0) }, { $0.description }),
        .duration(
            "upstream.poll", \.upstream.poll, atLeast: .milliseconds(100),
            "How often the manifest of each upstream is requested (±10 %). It is requested more often while icons wait for it."
        ),
        .duration(
            "upstream.wait", \.upstream.wait, "How long an icon that no upstream has waits before its origin is asked."),
        .duration(
            "upstream.spread", \.upstream.spread,
            "The longest random delay after `upstream.wait`. It keeps the machines of a fleet from asking an origin together."
        ),
        .value(
            "upstream.fallback", "origin or never", "`origin` or `never`", \.upstream.fallback,
            "With `origin`, an icon is requested from its origin after `upstream.wait`; with `never`, it waits for an upstream.",
            { Settings.Upstream.Fallback(rawValue: $0) }, \.rawValue),
        .duration(
            "upstream.connectTimeout", \.upstream.connectTimeout, atLeast: .milliseconds(1),
            "How long connecting to an upstream may take, including TLS."),
        .duration(
            "upstream.idleTimeout", \.upstream.idleTimeout, atLeast: .milliseconds(1),
            "How long an upstream may send nothing."),
        .duration(
            "upstream.totalTimeout", \.upstream.totalTimeout, atLeast: .milliseconds(1),
            "How long one request to an upstream may take, including the body."),
        .count(
            "upstream.breakAfter", \.upstream.breakAfter, 1...1000,
            "How many failures in a row open the circuit breaker of an upstream."),
        .duration(
            "upstream.breakFor", \.upstream.breakFor, atLeast: .milliseconds(100),
            "The limit of the first time for which the circuit breaker is open. It doubles with each opening (full jitter)."
        ),
        .duration(
            "upstream.breakMax", \.upstream.breakMax, atLeast: .milliseconds(100), "The highest limit of that time."),
        .duration(
            "upstream.missTTL", \.upstream.missTTL, atLeast: .milliseconds(100),
            "How long an upstream is not asked again for a file that it did not deliver."),
        .duration(
            "upstream.maxAge", \.upstream.maxAge, atLeast: .seconds(1),
            """
            How long a manifest is trusted after its publication. An older one is stale: its images are used, but \
            refreshes and icons that it lists as failed go to the origins, unless `upstream.fallback` is `never`.
            """),
        .list(
            "upstream.publicKeys", "public keys of minisign or signify, such as RWQ… (56 characters)", "public keys",
            \.upstream.publicKeys,
            "Each manifest must have the signature of one of these keys. Without keys, no signature is required.",
            { try? PublicKey($0) }, { $0.description }),
        .list(
            "upstream.lists", "patterns of lists such as *.plist", "patterns of names", \.upstream.lists,
            """
            The lists of the upstreams' manifests that are taken over, as if they were in the lists folder. In a \
            pattern, `*` stands for any text, and a question mark for one byte; all end in `.plist` or `.json`. A list of \
            the same name in the lists folder counts instead.
            """,
            { ListPattern($0) }, { $0.description }),
    ]
}
