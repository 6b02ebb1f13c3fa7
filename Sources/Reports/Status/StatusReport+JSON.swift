// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
import Fleet

extension StatusReport {
    package var json: JSON { json(for: CommandContext()) }

    package func json(for context: CommandContext) -> JSON {
        let verdict = verdict(for: context)
        return [
            "format": 1, "state": .string(state.rawValue), "pid": pid.map(JSON.number) ?? .null,
            "reachable": .bool(reachable ?? true),
            "version": .string(version), "generation": generation.map(JSON.number) ?? .null,
            "published": .string(orNull: published), "inSync": .bool(inSync),
            "lists": .lines(.array(lists.map(\.json))),
            "icons": [
                "referenced": .number(icons.referenced), "ready": .number(icons.ready),
                "pending": .number(icons.pending),
                "failed": .number(icons.failed), "stale": .number(icons.stale), "retired": .number(icons.retired),
                "previous": .number(icons.previous ?? 0), "previousSince": .string(orNull: icons.previousSince),
                "previousExample": .string(orNull: icons.previousExample?.text),
                "previousList": .string(orNull: icons.previousList?.text),
            ],
            "downloads": [
                "active": .number(downloads.active), "queued": .number(downloads.queued),
                "waiting": .number(downloads.waiting), "blocked": .number(downloads.blocked),
                "reason": .string(orNull: downloads.reason), "code": .string(orNull: downloads.code),
                "origins": .array((downloads.origins ?? []).map(\.json)),
                "awaitingUpstream": .number(downloads.awaitingUpstream ?? 0),
                "unlisted": downloads.unlisted?.json ?? .null,
                "failedUpstream": downloads.failedUpstream?.json ?? .null,
            ],
            "cache": [
                "bytes": .number(cache.bytes), "images": .number(cache.images),
                "lastRepair": .string(orNull: cache.lastRepair),
            ],
            "eviction": [
                "state": .string(eviction.state), "reason": .string(orNull: eviction.reason),
                "leases": .string(orNull: eviction.leases),
            ],
            "watch": [
                "mode": .string(orNull: watch.mode), "reason": .string(orNull: watch.reason),
                "overflows": .number(watch.overflows), "lastScan": .string(orNull: watch.lastScan),
            ],
            "publication": ["error": .string(orNull: publication.error)],
            "storage": [
                "error": .string(orNull: storage?.error), "damaged": .string(orNull: storage?.damaged),
                "events": .string(orNull: storage?.events),
            ],
            "configuration": [
                "error": .string(orNull: configuration.error),
                "needRestart": .array((configuration.needRestart ?? []).map(JSON.string)),
            ],
            "listeners": .array((listeners ?? []).map(\.json)),
            "failures": .lines(.array((failures ?? []).map(\.json))),
            "verdict": [
                "level": .string(verdict.level.rawValue), "sentence": .string(verdict.sentence),
                "command": verdict.command.map(JSON.string) ?? .null,
            ],
            "problems": .lines(.array(problems(for: context).map(\.json))),
            "refreshFailures": .lines(.array((refreshFailures ?? []).map(\.json))),
            "upstreams": .lines(.array((upstreams ?? []).map(\.json))),
        ]
    }
}

extension StatusReport.Listener {
    fileprivate var json: JSON {
        ["name": .string(name), "address": .string(address), "error": .string(orNull: error)]
    }
}

extension StatusReport.Upstream {
    fileprivate var json: JSON {
        [
            "url": .string(url), "state": .string(state), "generation": generation.map(JSON.number) ?? .null,
            "published": .string(orNull: published), "lastPoll": .string(orNull: lastPoll),
            "nextPoll": .string(orNull: nextPoll), "error": .string(orNull: error), "code": .string(orNull: code),
        ]
    }
}

extension StatusReport.List {
    package var json: JSON {
        [
            "name": .text(name), "state": .string(state), "apps": .number(apps), "ready": .number(ready),
            "pending": .number(pending), "failed": .number(failed), "error": .string(orNull: error),
            "problems": .number(problems), "code": .string(orNull: code), "previous": .number(previous ?? 0),
        ]
    }
}

extension StatusReport.Failure {
    fileprivate var json: JSON {
        [
            "code": .string(code), "icons": .number(icons), "example": .text(example),
            "list": list.map(JSON.text) ?? .null, "message": .string(message),
        ]
    }
}

extension StatusReport.Downloads.Origin {
    fileprivate var json: JSON { ["name": .string(name), "icons": .number(icons), "until": .string(until)] }
}

extension StatusReport.Downloads.Missing {
    fileprivate var json: JSON {
        [
            "icons": .number(icons), "example": .text(example), "list": list.map(JSON.text) ?? .null,
            "isTemporary": .bool(isTemporary),
        ]
    }
}

extension StatusProblem {
    fileprivate var json: JSON {
        [
            "code": .string(code), "severity": .string(severity.rawValue), "count": .number(count),
            "sentence": .string(sentence), "detail": .string(orNull: detail), "example": .string(orNull: example),
            "commands": .array(commands.map(JSON.string)),
        ]
    }
}
