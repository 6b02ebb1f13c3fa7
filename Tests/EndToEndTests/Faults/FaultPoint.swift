// SPDX-License-Identifier: Apache-2.0

/// A call of a run at which a fault can be put: the n-th one of its name on its file.
///
/// strace counts the calls of each thread by itself. So a point is given by the call's file too: the few calls of one name
/// on one file nearly always come from one thread.
struct FaultPoint: Equatable, CustomStringConvertible {
    var name: String
    var file: String
    var number: Int

    var description: String { "\(name) \(file) #\(number)" }

    /// The points at those calls of a trace that are wanted.
    ///
    /// - Returns: The points, in the order of the trace, and how many calls there are.
    static func all(
        in trace: [TracedCall], where isWanted: (TracedCall) -> Bool
    ) -> (points: [FaultPoint], calls: Int) {
        var made: [[Substring]: Int] = [:]
        var points: [FaultPoint] = []
        var calls = 0
        for call in trace {
            made[[call.thread, call.name, call.file], default: 0] += 1
            guard isWanted(call), let number = made[[call.thread, call.name, call.file]] else { continue }
            calls += 1
            let point = FaultPoint(name: String(call.name), file: String(call.file), number: number)
            if !points.contains(point) { points.append(point) }
        }
        return (points, calls)
    }
}

/// What happens at a point.
enum Fault: CustomStringConvertible {
    /// The process is killed when it makes the call, before anything comes of it.
    case kill
    /// The call does nothing but fail with the error.
    case error(String)

    var description: String {
        switch self {
        case .kill: "SIGKILL"
        case .error(let name): name
        }
    }

    /// What has strace do it.
    func options(at point: FaultPoint) -> [String] {
        let what =
            switch self {
            case .kill: "signal=KILL"
            case .error(let name): "error=\(name)"
            }
        return [
            "-e", "trace=\(point.name)", "-e", "inject=\(point.name):\(what):when=\(point.number)", "-P", point.file,
        ]
    }

    /// Whether a message says that it happened; SQLite tells no error of the system.
    func isNamed(in messages: String) -> Bool {
        let words: [String] =
            switch self {
            case .kill: []
            case .error("ENOSPC"): ["No space left on device", "database or disk is full"]
            case .error: ["Input/output error"]
            }
        return (words + ["SQLite error", "Cannot use the database"]).contains { messages.contains($0) }
    }
}
