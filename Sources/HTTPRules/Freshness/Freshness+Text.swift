// SPDX-License-Identifier: Apache-2.0
import CacheFormat

extension Freshness: CustomStringConvertible {
    /// The computation in one line: `max-age 3600 s, age 120 s when received: fresh for 3480 s`.
    package var description: String {
        own + (redirectLifetime.map { "; the redirect to it is fresh for \(Self.seconds($0))" } ?? "")
    }

    private var own: String {
        switch basis {
        case .denied(let denial): return "\(denial.rawValue): never fresh"
        case .unsaid: return "no freshness lifetime given" + (hasValidator ? "" : ", and no validator")
        case .maxAge: return sum("max-age \(Self.seconds(lifetime))")
        case .expires: return sum("Expires \(Self.seconds(lifetime)) after Date")
        case .guess(let lastModified, let date):
            let unchanged = date - lastModified
            let limit = unchanged / 10 > lifetime ? "at most" : "a tenth of it is"
            return sum("unchanged for \(Self.seconds(unchanged)), \(limit) \(Self.seconds(lifetime))")
        }
    }

    private func sum(_ lifetimeText: String) -> String {
        let left = lifetime - receivedAge.total
        let result =
            left > .zero ? "fresh for \(Self.seconds(left))" : "stale for \(Self.seconds(.zero - left))"
        return "\(lifetimeText), age \(Self.seconds(receivedAge.total)) when received: \(result)"
    }

    private static func seconds(_ duration: Duration) -> String {
        let most = Duration.seconds(Int64.max)
        return "\(min(max(duration, .zero - most), most).components.seconds) s"
    }
}
