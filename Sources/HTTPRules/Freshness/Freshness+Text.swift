// SPDX-License-Identifier: Apache-2.0
import CacheFormat

extension Freshness: CustomStringConvertible {
    /// The computation in one line: `max-age 3600 s, age 120 s when received: fresh for 3480 s`.
    package var description: String {
        guard let redirectLifetime else { return own }
        let cause = redirectCause.map { " (\($0))" } ?? ""
        return "\(own); the redirect to it\(cause) is fresh for \(Self.seconds(redirectLifetime))"
    }

    private var own: String {
        switch basis {
        case .denied: return "\(statement): never fresh"
        case .unsaid: return statement + (hasValidator ? "" : ", and no validator")
        case .maxAge, .expires, .guess:
            let left = lifetime - receivedAge.total
            let result =
                left > .zero ? "fresh for \(Self.seconds(left))" : "stale for \(Self.seconds(.zero - left))"
            return "\(statement), age \(Self.seconds(receivedAge.total)) when received: \(result)"
        }
    }

    /// What the server says of the freshness lifetime.
    var statement: String {
        switch basis {
        case .denied(let denial): return denial.rawValue
        case .unsaid: return "no freshness lifetime given"
        case .maxAge: return "max-age \(Self.seconds(lifetime))"
        case .expires: return "Expires \(Self.seconds(lifetime)) after Date"
        case .guess(let lastModified, let date):
            let unchanged = date - lastModified
            let limit = unchanged / 10 > lifetime ? "at most" : "a tenth of it is"
            return "unchanged for \(Self.seconds(unchanged)), \(limit) \(Self.seconds(lifetime))"
        }
    }

    private static func seconds(_ duration: Duration) -> String {
        let most = Duration.seconds(Int64.max)
        return "\(min(max(duration, .zero - most), most).components.seconds) s"
    }
}
