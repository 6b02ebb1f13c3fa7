// SPDX-License-Identifier: Apache-2.0
import AgentServer
import ArgumentParser
import Glibc
import Subprocess
import SystemPackage
import UnixSignals

struct DashboardCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dashboard", abstract: "Open the dashboard of the running agent in a browser.",
        usage: "syncagent dashboard [--read-only] [--no-open] [options]",
        discussion: """
            Prints the address of the page, and starts a browser if this is a terminal on a desktop. The page may change \
            things, unless --read-only is given: keep its address to yourself. Ctrl-C closes it.

            Without dashboard.listen, the page is on a free loopback port for as long as the command runs.

            Examples:
              syncagent dashboard
              syncagent dashboard --read-only --no-open

            Exit code 69: the agent is not running, or stopped.
            """)

    @Flag(help: "Make the page read-only.")
    var readOnly = false

    @Flag(help: "Do not start a browser.")
    var noOpen = false

    @OptionGroup var output: OutputOptions
    @OptionGroup var configuration: Configuration

    func run() async throws {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        let link = BrowserLink()
        defer { link.remove() }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await follow(link)
                return false
            }
            group.addTask {
                for await _ in signals { break }
                return true
            }
            defer { group.cancelAll() }
            guard try await group.next() == false else { return }
            throw Exit.because("The agent stopped: the dashboard is closed.", code: .noAgent)
        }
    }

    /// Prints the address once the page is served; returns when the agent closes it.
    private func follow(_ link: BrowserLink) async throws {
        _ = try await configuration.askAgent { agent in
            try await agent.dashboard(mayChange: !readOnly) { url in
                try Message.output([url])
                guard isatty(STDOUT_FILENO) == 1 else { return }
                Message.error("The dashboard is open until you press Ctrl-C.")
                if !noOpen { await link.open(url) }
            }
        }
    }
}

/// A private file that redirects a browser to the address: all users can see the token in a command line.
private struct BrowserLink: Sendable {
    private let path: FilePath? = {
        guard Variable["DISPLAY"] ?? Variable["WAYLAND_DISPLAY"] != nil, let folder = Variable["XDG_RUNTIME_DIR"]
        else { return nil }
        return FilePath(folder).appending("syncagent-dashboard-\(getpid()).html")
    }()

    func open(_ url: String) async {
        guard let path else { return }
        do {
            let page = "<!doctype html><meta http-equiv=\"refresh\" content=\"0;url=\(url)\"><title>syncagent</title>\n"
            let file = try FileDescriptor.open(
                path, .writeOnly, options: [.create, .exclusiveCreate, .closeOnExec], permissions: [.ownerReadWrite])
            try file.closeAfter { _ = try file.writeAll(page.utf8) }
            _ = try await Subprocess.run(
                .name("xdg-open"), arguments: ["file://\(path)"], output: .discarded, error: .discarded)
        } catch {
            // A browser that cannot be started is no error: the address is printed on the terminal.
        }
    }

    func remove() {
        if let path { unlink(path.string) }
    }
}
