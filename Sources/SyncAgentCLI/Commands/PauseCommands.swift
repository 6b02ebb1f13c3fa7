// SPDX-License-Identifier: Apache-2.0
import AgentServer
import ArgumentParser
import SyncAgent

struct PauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Pause new downloads. Running ones finish. The pause survives restarts.",
        discussion: "Exit code 69: the agent is not running.")

    @OptionGroup var configuration: Configuration

    func run() async throws { try await configuration.pause(true) }
}

struct ResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Resume downloads after a pause.",
        discussion: "Exit code 69: the agent is not running.")

    @OptionGroup var configuration: Configuration

    func run() async throws { try await configuration.pause(false) }
}

extension Configuration {
    fileprivate func pause(_ isPaused: Bool) async throws {
        _ = try await askAgent { try await $0.pause(isPaused) }
    }
}
