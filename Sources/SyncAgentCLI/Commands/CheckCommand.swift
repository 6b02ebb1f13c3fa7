// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import IconCache
import SyncAgent
import SyncPlan
import SystemPackage

struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Say whether a property list would be accepted, before it is dropped.",
        discussion: "Exit code 65: at least one of the files would not be accepted.")

    @Argument(help: "Property lists.", completion: .file(extensions: ["plist"]))
    var file: [String]

    @OptionGroup var configuration: Configuration

    func run() async throws {
        let settings = try configuration.settings()
        let parser = ParseHelper(executable: try Agent.Helpers.installed().parse, limits: ListLimits(settings.lists))
        var isAcceptable = true
        for name in file {
            let verdict: ListVerdict
            do {
                let opened = try ListFile.open(FilePath(name), maxBytes: settings.lists.maxBytes)
                defer { try? opened.descriptor.close() }
                verdict = await parser.parse(opened.descriptor)
            } catch {
                verdict = .failure(error)
            }
            switch verdict {
            case .success(let list): try report(list, of: name, under: settings)
            case .failure(let rejection) where rejection.code == ListRejection.parserUnavailable("").code:
                throw Exit.because(rejection.message, code: .badConfiguration)
            case .failure(let rejection):
                isAcceptable = false
                try Message.output("\(printable(name)): not acceptable: \(rejection.message) [\(rejection.code)]")
            }
        }
        if !isAcceptable { throw Exit.with(.notAList) }
    }

    private func report(_ list: AppList, of name: String, under settings: Settings) throws {
        let count = list.entries.count
        try Message.output("\(printable(name)): acceptable, \(count) \(count == 1 ? "app" : "apps")")
        for problem in list.problems { try Message.output("  passed over: \(printable(problem.description))") }
        let network = NetworkPolicy(settings.network)
        let inspector = ImageInspector(limits: ImageLimits(settings.images))
        for entry in list.entries {
            do {
                switch try IconSource(entry.icon) {
                case .server(let target): try network.judge(target)
                case .inline(let url): _ = try url.image(upTo: settings.fetch.maxBytes, inspector)
                }
            } catch {
                try Message.output(
                    "  will not be ready: \(shown(entry.icon)): \(error.message) [\(error.code)]")
            }
        }
        if !ListName.isAppList(FilePath(name).lastComponent?.string ?? "") {
            try Message.output(
                "  the lists folder takes it only under a name that ends in .plist, and begins neither with a dot nor with #"
            )
        }
    }
}
