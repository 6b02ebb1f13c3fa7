// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
import Fleet
import HTTPRules

extension IconReport {
    package var json: JSON {
        .lines([
            "format": 1, "url": .text(url), "lists": .array(lists.map(JSON.text)), "state": .string(state),
            "path": .string(orNull: path), "next": .string(next), "failure": failure?.json ?? .null,
            "response": response?.json ?? .null, "origin": origin?.json ?? .null, "stale": .string(orNull: stale),
            "trail": .array(trail.map(\.json)), "pinned": .bool(isPinned ?? false),
            "holds": .array((holds ?? []).map(\.json)), "rule": .string(orNull: rule),
            "eviction": .string(orNull: eviction), "source": .string(orNull: source),
            "upstreams": .array((upstreams ?? []).map(\.json)), "previous": previous?.json ?? .null,
            "shownFor": .array((shownFor ?? []).map(\.json)),
        ])
    }
}

extension IconReport.Previous {
    fileprivate var json: JSON {
        [
            "url": .text(url), "path": .string(path), "since": .string(orNull: since),
            "lists": .array(lists.map(JSON.text)),
        ]
    }
}

extension IconReport.Shown {
    fileprivate var json: JSON { ["url": .text(url), "lists": .array(lists.map(JSON.text))] }
}

extension UpstreamOpinion {
    fileprivate var json: JSON {
        ["url": .string(url), "says": .string(says), "obstacle": .string(orNull: obstacle)]
    }
}

extension IconReport.Hold {
    fileprivate var json: JSON { ["code": .string(code), "reason": .string(reason)] }
}

extension IconReport.Failure {
    fileprivate var json: JSON {
        [
            "code": .string(code), "message": .string(message), "attempts": .number(attempts),
            "nextAttempt": .string(orNull: nextAttempt),
        ]
    }
}

extension IconReport.Response {
    fileprivate var json: JSON {
        [
            "received": .string(received), "etag": .string(orNull: etag), "lastModified": .string(orNull: lastModified),
            "freshness": .string(freshness),
        ]
    }
}

extension IconReport.Origin {
    fileprivate var json: JSON {
        ["name": .string(name), "failures": .number(failures), "waitsUntil": .string(orNull: waitsUntil)]
    }
}

extension FetchTrail.Hop {
    package var json: JSON {
        [
            "url": .string(url), "status": status.map(JSON.number) ?? .null, "allowedBy": .string(orNull: allowedBy),
            "proxy": .string(orNull: proxy),
        ]
    }
}
