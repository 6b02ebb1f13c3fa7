// SPDX-License-Identifier: Apache-2.0
import AgentServer
import ArgumentParser
import SyncAgent
import SystemPackage

extension Configuration {
    /// Asks the running agent a question that needs an agent, and waits up to `patience` for an agent to start.
    ///
    /// - Throws: Exit code 69 if the agent cannot be asked, 1 if it refuses, or an exit code that the question throws.
    func askAgent<Answer>(
        within patience: Duration = .zero, _ question: (ControlClient) async throws -> Answer?
    ) async throws -> Answer {
        if let answer = try await ask(question, within: patience, code: .noAgent) { return answer }
        throw Exit.because(
            "No agent answers at \(try folders().socket): start it, or name its socket with --socket.", code: .noAgent)
    }

    /// Asks the running agent to do work that this command does itself if no agent runs.
    ///
    /// - Returns: The answer; `nil` if no agent runs.
    /// - Throws: Exit code 75 if an agent holds the cache but cannot be asked.
    func askIfRunning<Answer>(_ question: (ControlClient) async throws -> Answer?) async throws -> Answer? {
        try await ask(question, within: .zero, code: .busy)
    }

    /// Returns the answer, or `nil` if no agent runs; exits with `code` if an agent runs but cannot be asked.
    private func ask<Answer>(
        _ question: (ControlClient) async throws -> Answer?, within patience: Duration, code: Exit.Code
    ) async throws -> Answer? {
        let folders = try folders()
        let client = ControlClient(socket: folders.socket)
        let end = ContinuousClock.now + patience
        while true {
            do {
                if let answer = try await question(client) { return answer }
            } catch {
                throw Self.end(because: error, at: folders.socket, code: code)
            }
            // A starting agent first has no lock on the cache, and then no socket.
            guard ContinuousClock.now < end, [.noSuchFileOrDirectory, .connectionRefused].contains(client.obstacle)
            else {
                break
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        if let obstacle = unreachable(LockState(ofFolder: folders.cache), folders) {
            throw Exit.because(obstacle, code: code)
        }
        return nil
    }

    /// Asks the agent for facts that can also be read from disk; if it runs but cannot be asked, stderr says so, and what
    /// the command does `otherwise`.
    ///
    /// - Returns: The answer; without one, the caller reads from disk, and is told whether an agent holds the cache.
    func askIfPossible<Answer>(
        _ question: (ControlClient) async throws -> Answer?, otherwise: String = "The output is read from disk."
    ) async throws -> (answer: Answer?, agent: LockState) {
        let folders = try folders()
        do {
            let client = ControlClient(socket: folders.socket)
            if let answer = try await question(client) { return (answer, .free) }
            let agent = await Self.lock(of: folders, client)
            if let obstacle = unreachable(agent, folders) { Message.error("\(obstacle) \(otherwise)") }
            // The refused socket may belong to an agent with another cache.
            return (nil, agent == .free && client.obstacle == .permissionDenied ? .unknown(.permissionDenied) : agent)
        } catch {
            let reason = Self.refusal(error) ?? Self.noAnswer(at: folders.socket, error)
            Message.error("\(reason) \(otherwise)")
            // With --socket alone, the answering agent may use another cache than the one examined here.
            let agent = LockState(ofFolder: folders.cache)
            let isListening = ControlClient(socket: folders.socket).obstacle == nil
            return (nil, agent == .free && isListening ? .unknown(.permissionDenied) : agent)
        }
    }

    /// Whether an agent holds the cache.
    ///
    /// A stopping agent removes its socket up to two seconds before it releases the cache.
    private static func lock(of folders: AgentFolders, _ client: ControlClient) async -> LockState {
        let end = ContinuousClock.now + .seconds(2)
        while true {
            let state = LockState(ofFolder: folders.cache)
            guard case .held = state, ContinuousClock.now < end,
                [.noSuchFileOrDirectory, .connectionRefused].contains(client.obstacle),
                (try? await Task.sleep(for: .milliseconds(20))) != nil
            else { return state }
        }
    }

    /// The reason why an agent that may run cannot be asked, as a sentence; `nil` if none runs.
    private func unreachable(_ agent: LockState, _ folders: AgentFolders) -> String? {
        let obstacle = ControlClient(socket: folders.socket).obstacle
        switch agent {
        case .free: return obstacle == .permissionDenied ? Self.closed(folders.socket) : nil
        case .held(let process):
            let name = process.map { " (process \($0))" } ?? ""
            // An agent creates its socket after reading the disk, and removes it before it ends.
            if let obstacle, [.noSuchFileOrDirectory, .connectionRefused].contains(obstacle) {
                return
                    "The agent\(name) is running, but no process listens at \(folders.socket): it is starting or "
                    + "stopping, or has another socket. Try again, or name its socket with --socket."
            }
            let reason = obstacle.map { ": \($0)" } ?? ""
            return
                "The agent\(name) is running, but not reachable at \(folders.socket)\(reason). Run this command as the "
                + "agent's user, or name its socket with --socket."
        case .unknown(let errno):
            return
                "Cannot tell whether an agent is running: cannot open \(folders.cache): \(errno). Run this command as "
                + "the agent's user."
        }
    }

    private static func refusal(_ error: any Error) -> String? {
        (error as? ControlClient.Unexpected).flatMap { $0.reason == nil ? nil : "\($0)" }
    }

    /// The error that ends a command that got no answer.
    private static func end(because error: any Error, at socket: FilePath, code: Exit.Code) -> any Error {
        if error is ExitCode || error is CancellationError { return error }
        guard let refusal = refusal(error) else { return Exit.because(noAnswer(at: socket, error), code: code) }
        let isBusy = (error as? ControlClient.Unexpected)?.isBusy == true
        return Exit.because(refusal, code: isBusy ? code : .attention)
    }

    private static func closed(_ socket: FilePath) -> String {
        "Cannot connect to the agent at \(socket): Permission denied. Run this command as the agent's user or with "
            + "sudo, or ask an administrator to set control.readers or control.group."
    }

    private static func noAnswer(at socket: FilePath, _ error: any Error) -> String {
        if ControlClient(socket: socket).obstacle == .permissionDenied { return closed(socket) }
        if error is ControlClient.NoAnswer {
            return
                "The agent at \(socket) does not respond (\(error)): it has too many clients, or hangs. Try again; if "
                + "that does not help, restart it."
        }
        return "The agent at \(socket) has an incompatible version, or is not responding (\(error)). Restart it."
    }
}
