// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import IconCache
import SyncAgent
import SystemPackage

struct PathCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "path", abstract: "Print the absolute path of an icon's image.",
        discussion: "Works without a running agent. Exit code 1: the icon is not ready.")

    @Argument(help: "The URL, spelled as in the app list.")
    var url: IconURL

    @OptionGroup var configuration: Configuration

    func run() throws {
        let cache = IconCache(at: try configuration.folders().cache)
        do {
            guard let app = try cache.entry(forIcon: url) else {
                throw Exit.because("No app list names \(shown(url)).", code: .attention)
            }
            switch app.state {
            case .ready(let image):
                let path = cache.path(of: image).string
                guard access(path, F_OK) == 0 else {
                    throw Exit.because(
                        "The image of \(shown(url)) is missing (\(path)): run syncagent verify --repair.",
                        code: .attention)
                }
                try Message.output(path: path)
            case .pending: throw Exit.because("\(shown(url)) has not been downloaded yet.", code: .attention)
            case .failed(let code):
                throw Exit.because(
                    "\(shown(url)) could not be downloaded (\(code)): see syncagent why URL.", code: .attention)
            }
        } catch let error as IconCacheError {
            throw Exit.because("\(error)", code: .attention)
        }
    }
}
