// SPDX-License-Identifier: Apache-2.0
import SystemPackage
import TestSupport

/// A call of a run at which a fault can be put: the n-th one of its name that has to do with its file.
///
/// strace counts the calls of each thread by itself. So a point is given by the call's file too: the few calls of one name
/// on one file nearly always come from one thread.
struct FaultPoint: Hashable, CustomStringConvertible {
    let name: String
    /// What strace knows the calls by that are counted.
    let paths: [String]
    let number: Int

    /// The n-th call of this name on a file, whichever of the folders on its path the agent has open by then.
    ///
    /// - Parameters:
    ///   - name: The call's.
    ///   - file: The file's path in the folder; empty for the folder itself.
    ///   - folder: The folder.
    ///   - number: 1 for the first call.
    init(_ name: String, on file: String, in folder: FilePath, number: Int) {
        let names = file.split(separator: "/")
        let ends = names.indices.map { names[$0...].joined(separator: "/") }
        self.init(name: name, paths: [folder.appending(file).string] + ends, number: number)
    }

    private init(name: String, paths: [String], number: Int) {
        self.name = name
        self.paths = paths
        self.number = number
    }

    var description: String { "\(name) \(paths[0]) #\(number)" }

    /// The points at those calls of a trace that are wanted.
    ///
    /// - Returns: The points, and how many calls there are.
    static func all(
        in trace: [TracedCall], where isWanted: (Int, TracedCall) -> Bool
    ) -> (points: Set<FaultPoint>, calls: Int) {
        var made: [[Substring]: Int] = [:]
        var points: Set<FaultPoint> = []
        var calls = 0
        for (index, call) in trace.enumerated() {
            for subject in Set(call.subjects) { made[[call.thread, call.name, subject], default: 0] += 1 }
            guard isWanted(index, call), let number = made[[call.thread, call.name, call.subject]] else { continue }
            calls += 1
            points.insert(FaultPoint(name: String(call.name), paths: [String(call.subject)], number: number))
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

    /// What has strace do it, at this call alone or, if it `lasts`, also at those after it until ``Tracer/end()``.
    func options(at point: FaultPoint, lasts: Bool = false) -> [String] {
        let what =
            switch self {
            case .kill: "signal=KILL"
            case .error(let name): "error=\(name)"
            }
        let calls = "\(point.number)\(lasts ? "+" : "")"
        let paths = point.paths.flatMap { ["-P", $0] }
        return ["-e", "trace=\(point.name)", "-e", "inject=\(point.name):\(what):when=\(calls)"] + paths
    }

    /// Whether a message says that it happened; SQLite tells no error of the system.
    func isNamed(in messages: String) -> Bool {
        let words: [String] =
            switch self {
            case .kill: []
            case .error("ENOSPC"): ["No space left on device", "database or disk is full"]
            case .error: ["Input/output error"]
            }
        return (words + ["SQLite error", "Cannot open the database"]).contains { messages.contains($0) }
    }
}
