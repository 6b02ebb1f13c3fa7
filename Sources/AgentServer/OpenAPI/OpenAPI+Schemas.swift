// SPDX-License-Identifier: Apache-2.0
import CacheFormat

extension OpenAPI {
    private static let missing = JSON.object([
        "icons": .count, "example": .anyText, "list": .textOrNull, "isTemporary": .flag,
    ])

    static let schemas: [(name: String, schema: Schema)] = [
        ("Error", Schema(answer: ["error": .object(["code": .anyText, "message": .anyText])])),
        (
            "Health",
            Schema(answer: [
                "format": .format, "state": .anyText, "version": .anyText, "pid": .countOrNull,
                "generation": .countOrNull,
                "inSync": .flag, "needsAttention": .flag,
            ])
        ),
        (
            "Status",
            Schema(
                answer: [
                    "format": .format, "state": .one(of: "running", "paused", "stopped", "unknown"),
                    "pid": .countOrNull,
                    "reachable": .flag, "version": .anyText, "generation": .countOrNull, "published": .textOrNull,
                    "inSync": .flag, "lists": .list(of: .schema("List")),
                    "icons": .object([
                        "referenced": .count, "ready": .count, "pending": .count, "failed": .count, "stale": .count,
                        "retired": .count, "previous": .count, "previousSince": .textOrNull,
                        "previousExample": .textOrNull, "previousList": .textOrNull,
                    ]),
                    "downloads": .object([
                        "active": .count, "queued": .count, "waiting": .count, "blocked": .count, "reason": .textOrNull,
                        "code": .textOrNull,
                        "origins": .list(of: .object(["name": .anyText, "icons": .count, "until": .anyText])),
                        "awaitingUpstream": .count,
                        "unlisted": .orNull(missing), "failedUpstream": .orNull(missing),
                    ]),
                    "cache": .object(["bytes": .count, "images": .count, "lastRepair": .textOrNull]),
                    "eviction": .object(["state": .anyText, "reason": .textOrNull, "leases": .textOrNull]),
                    "watch": .object([
                        "mode": .textOrNull, "reason": .textOrNull, "overflows": .count, "lastScan": .textOrNull,
                    ]),
                    "publication": .object(["error": .textOrNull]),
                    "storage": .object(["error": .textOrNull, "damaged": .textOrNull, "events": .textOrNull]),
                    "configuration": .object(["error": .textOrNull, "needRestart": .list(of: .anyText)]),
                    "listeners": .list(of: .object(["name": .anyText, "address": .anyText, "error": .textOrNull])),
                    "failures": .list(
                        of: .object([
                            "code": .anyText, "icons": .count, "example": .anyText, "list": .textOrNull,
                            "message": .anyText,
                        ])),
                    "verdict": .object([
                        "level": .one(of: "ok", "busy", "stopped", "problem"), "sentence": .anyText,
                        "command": .textOrNull,
                    ]),
                    "problems": .list(
                        of: .object([
                            "code": .anyText, "severity": .one(of: "problem", "notice"), "count": .count,
                            "sentence": .anyText, "detail": .textOrNull, "example": .textOrNull,
                            "commands": .list(of: .anyText),
                        ])),
                    "upstreams": .list(
                        of: .object([
                            "url": .anyText, "state": .one(of: "fresh", "stale", "broken", "refused", "unknown"),
                            "generation": .countOrNull, "published": .textOrNull, "lastPoll": .textOrNull,
                            "nextPoll": .textOrNull, "error": .textOrNull, "code": .textOrNull,
                        ])),
                    "refreshFailures": .list(
                        of: .object([
                            "code": .anyText, "icons": .count, "example": .anyText, "list": .textOrNull,
                            "message": .anyText,
                        ])),
                ],
                optional: [
                    "purge": .object([
                        "state": .one(of: "done", "under-way", "refused", "failed"), "reason": .textOrNull,
                        "files": .count,
                    ])
                ])
        ),
        (
            "List",
            Schema(answer: [
                "name": .anyText, "state": .one(of: "ok", "last-good", "rejected"), "apps": .count, "ready": .count,
                "pending": .count, "failed": .count, "error": .textOrNull, "problems": .count,
                "code": .textOrNull, "previous": .count,
            ])
        ),
        ("Lists", Schema(answer: ["format": .format, "lists": .list(of: .schema("List"))])),
        ("OneList", Schema(answer: ["format": .format, "list": .schema("List")])),
        (
            "Icon",
            Schema(answer: [
                "url": .anyText, "names": .list(of: .anyText),
                "state": .one(of: "ready", "pending", "failed", "retired"),
                "lists": .list(of: .anyText), "path": .textOrNull, "sha256": .textOrNull, "bytes": .countOrNull,
                "type": .textOrNull, "width": .countOrNull, "height": .countOrNull, "error": .textOrNull,
                "stale": .textOrNull, "previous": .textOrNull,
            ])
        ),
        (
            "Icons",
            Schema(answer: [
                "format": .format, "icons": .list(of: .schema("Icon")), "next": .textOrNull, "total": .count,
            ])
        ),
        (
            "Why",
            Schema(answer: [
                "format": .format, "url": .anyText, "lists": .list(of: .anyText),
                "state": .one(of: "ready", "pending", "failed", "retired"), "path": .textOrNull, "next": .anyText,
                "failure": .orNull(
                    .object(["code": .anyText, "message": .anyText, "attempts": .count, "nextAttempt": .textOrNull])),
                "response": .orNull(
                    .object([
                        "received": .anyText, "etag": .textOrNull, "lastModified": .textOrNull, "freshness": .anyText,
                    ])),
                "origin": .orNull(.object(["name": .anyText, "failures": .count, "waitsUntil": .textOrNull])),
                "stale": .textOrNull,
                "trail": .list(
                    of: .object([
                        "url": .anyText, "status": .countOrNull, "allowedBy": .textOrNull, "proxy": .textOrNull,
                    ])),
                "pinned": .flag, "holds": .list(of: .object(["code": .anyText, "reason": .anyText])),
                "rule": .textOrNull, "eviction": .textOrNull, "source": .textOrNull,
                "upstreams": .list(of: .object(["url": .anyText, "says": .anyText, "obstacle": .textOrNull])),
                "previous": .orNull(
                    .object([
                        "url": .anyText, "path": .anyText, "since": .textOrNull, "lists": .list(of: .anyText),
                    ])),
                "shownFor": .list(of: .object(["url": .anyText, "lists": .list(of: .anyText)])),
            ])
        ),
        (
            "Sync",
            Schema(answer: [
                "format": .format, "missing": .list(of: .anyText),
                "rejected": .list(of: .object(["list": .anyText, "message": .anyText])), "ready": .count,
                "pending": .count,
                "failed": .count, "isDone": .flag, "error": .textOrNull, "lists": .countOrNull,
                "publishedLists": .countOrNull, "downloadedBytes": .countOrNull, "hold": .textOrNull,
            ])
        ),
        (
            "Pins",
            Schema(answer: [
                "format": .format, "pins": .list(of: .anyText), "isPublished": .flag, "error": .textOrNull,
            ])
        ),
        (
            "Selection",
            Schema(answer: [
                "format": .format, "icons": .count, "unknown": .list(of: .anyText), "missing": .list(of: .anyText),
            ])
        ),
        (
            "Eviction",
            Schema(answer: [
                "format": .format, "state": .anyText, "reason": .textOrNull,
                "icons": .list(
                    of: .object([
                        "url": .anyText, "path": .anyText, "bytes": .count, "goes": .flag, "reason": .anyText,
                        "generation": .countOrNull,
                    ])),
                "leases": .list(of: .object(["generation": .count, "pids": .list(of: .count)])), "isSettled": .flag,
            ])
        ),
        (
            "Settings",
            Schema(answer: [
                "format": .format, "pid": .countOrNull, "file": .anyText,
                "folders": .object(["lists": .anyText, "cache": .anyText, "state": .anyText, "socket": .anyText]),
                "settings": .list(
                    of: Schema(
                        answer: [
                            "key": .anyText, "variable": .anyText, "value": .anyText, "default": .anyText,
                            "source": .anyText, "place": .textOrNull, "needsRestart": .flag,
                        ], optional: ["redacted": .flag]
                    ).json),
            ])
        ),
        (
            "Event",
            Schema(
                answer: [
                    "id": .count, "time": .anyText, "kind": .anyText, "code": .textOrNull, "message": .anyText,
                ],
                optional: [
                    "list": .anyText, "url": .anyText, "urlSHA256": .anyText, "generation": .count,
                    "from": .count, "through": .count,
                ])
        ),
        (
            "Events",
            Schema(answer: [
                "format": .format, "events": .list(of: .schema("Event")), "next": .count, "gap": .flag,
            ])
        ),
    ]
}
