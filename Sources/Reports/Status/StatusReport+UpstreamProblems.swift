// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Fleet

extension StatusReport {
    var upstreamProblems: [StatusProblem] {
        let isWithout = lacksUpstream
        return upstreams.compactMap { upstream in
            let cause = upstream.error.map { $0 + (upstream.code.map { " [\($0)]" } ?? "") }
            // Icons also wait after a failure.
            let pending = min(downloads.awaitingUpstream, icons.pending)
            let effect = pending > 0 ? ": \(waiting(pending))" : ""
            let retry = ["syncagent retry --failed"]
            let look = "curl -I " + ShellWord.quoted(upstream.url + CacheLayout.manifest)
            switch upstream.state.known {
            case .refused:
                return StatusProblem(
                    .upstreamRefused,
                    sentence: (upstream.code?.starts(withBytes: "manifest-") == true
                        ? "the manifest of the upstream \(upstream.url) is refused"
                        : "the upstream \(upstream.url) refuses this machine") + effect,
                    detail: cause)
            case .stale:
                return StatusProblem(
                    .upstreamStale, sentence: "the manifest of the upstream \(upstream.url) is old",
                    detail: upstream.published.map {
                        "it was published \($0), longer ago than upstream.maxAge: check its agent, its export and "
                            + "this machine's clock"
                    })
            case .broken:
                return StatusProblem(
                    .upstreamBroken, severity: isWithout ? .problem : .notice,
                    sentence: "the upstream \(upstream.url) fails\(effect)",
                    detail: [cause, upstream.nextPoll.map { "the next probe is at \($0)" }].compactMap(\.self)
                        .joined(separator: "; "), commands: [look])
            case .unknown, .fresh:
                if let images = upstream.undelivered {
                    return StatusProblem(
                        .upstreamFailed, severity: isWithout ? .problem : .notice, count: images,
                        sentence: "the upstream \(upstream.url) did not deliver \(counted(images, "image")) that it "
                            + "lists\(effect)", detail: cause, commands: retry)
                }
                return cause.map {
                    StatusProblem(
                        .upstreamFailed, severity: isWithout ? .problem : .notice,
                        sentence: "the upstream \(upstream.url) could not be read\(effect)", detail: $0,
                        commands: [look])
                }
            case nil: return nil
            }
        }
    }

    var failedUpstreamNotice: StatusProblem? {
        downloads.failedUpstream.map { failed in
            StatusProblem(
                .upstreamIconsFailed, severity: .notice, count: failed.icons,
                sentence: "\(counted(failed.icons, "icon")) failed at an upstream",
                detail: failed.isTemporary
                    ? "the origins are asked later (upstream.wait)"
                    : "\(failed.icons == 1 ? "it stays" : "they stay") pending (upstream.fallback is never): run "
                        + "syncagent status on the machine that exports the upstream",
                example: failed.example.text, commands: [Self.command(for: failed.example, in: failed.list)])
        }
    }

    var unlistedNotice: StatusProblem? {
        downloads.unlisted.map { unlisted in
            let (verb, subject) = unlisted.icons == 1 ? ("is", "it stays") : ("are", "they stay")
            return StatusProblem(
                .upstreamUnlisted, severity: .notice, count: unlisted.icons,
                sentence: "\(counted(unlisted.icons, "icon")) \(verb) in no list of an upstream",
                detail: unlisted.isTemporary
                    ? "the origins are asked later (upstream.wait)"
                    : "\(subject) pending (upstream.fallback is never): add their list on the machine that exports the upstream",
                example: unlisted.example.text, commands: [Self.command(for: unlisted.example, in: unlisted.list)])
        }
    }
}
