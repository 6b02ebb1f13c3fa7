// SPDX-License-Identifier: GPL-2.0-only
import Subprocess
import SystemPackage
import TestSupport

/// A `syncagent-watch` that runs, and what it says.
struct RunningWatch: ~Copyable {
    private let execution: Execution<CustomWriteInput, SequenceOutput, DiscardedOutput>
    private var lines: SubprocessOutputSequence.StringSequence<UTF8>.AsyncIterator

    fileprivate init(_ execution: Execution<CustomWriteInput, SequenceOutput, DiscardedOutput>) {
        self.execution = execution
        lines = execution.standardOutput.strings().makeAsyncIterator()
    }

    /// The next record, or `nil` if there are no more.
    mutating func next() async throws -> String? {
        try await lines.next()
    }

    /// All records that are still to come.
    mutating func rest() async throws -> [String] {
        var records: [String] = []
        while let record = try await next() { records.append(record) }
        return records
    }

    /// Waits until everything done to the folder so far has been told, and says how much there was to tell.
    ///
    /// The folder is moved for that, which ends the watch.
    mutating func recordsUntilMoved(_ folder: FilePath) async throws -> [String] {
        try folder.move(to: FilePath("\(folder).moved"))
        return try await rest()
    }

    func ask() async throws {
        _ = try await execution.standardInputWriter.write("?")
    }

    func closeInput() async throws {
        try await execution.standardInputWriter.finish()
    }

    func send(_ signal: Signal) throws {
        try execution.send(signal: signal)
    }
}

/// Runs the body while a folder is watched, and then ends the watch by letting go of its standard input.
///
/// - Returns: How the process ended.
@discardableResult
func withWatch(
    _ arguments: String..., body: (inout RunningWatch) async throws -> Void
) async throws -> TerminationStatus {
    try await Subprocess.run(
        .path(BuiltProducts.path("syncagent-watch")), arguments: Arguments(arguments),
        environment: .custom(["SWIFT_BACKTRACE": "enable=no"]), input: .inputWriter, output: .sequence,
        error: .discarded
    ) { execution in
        var watch = RunningWatch(execution)
        try await body(&watch)
    }.terminationStatus
}
