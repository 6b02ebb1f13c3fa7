// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import SyncAgent
import SyncPlan

struct PauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Stop starting downloads, also over a restart; those under way go on.",
        discussion: "Exit code 69: the agent is not running.")

    @OptionGroup var configuration: Configuration

    func run() async throws { try await configuration.pause(true) }
}

struct ResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Start downloads again after a pause.",
        discussion: "Exit code 69: the agent is not running.")

    @OptionGroup var configuration: Configuration

    func run() async throws { try await configuration.pause(false) }
}

extension Configuration {
    fileprivate func pause(_ isPaused: Bool) async throws {
        _ = try await askAgent { try await $0.pause(isPaused) }
    }

    /// Asks the running agent.
    ///
    /// - Throws: Exit code 69 if none answers.
    func askAgent<Answer>(_ question: (ControlClient) async throws -> Answer?) async throws -> Answer {
        let socket = try folders().socket
        guard let answer = try await question(ControlClient(socket: socket)) else {
            throw Exit.because("No agent answers at \(socket): start it, or name its socket.", code: .noAgent)
        }
        return answer
    }
}
