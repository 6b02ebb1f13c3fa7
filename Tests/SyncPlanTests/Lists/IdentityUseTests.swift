// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Fleet
import FoundationEssentials
import HTTPRules
import Testing

/// Keys of dictionaries and members of sets are compared, and `String` compares text, where the world compares bytes.
@Suite("No identity is compared as text")
struct IdentityUseTests {
    /// The files in which `String` is a key all the same, and what the texts are: all of them ASCII, which has one spelling.
    private static let keyedByText: [String: String] = [
        "CacheFormat/Manifest.swift": "what a JSON decoder gives, before each line is decoded on its own",
        "ListWatch/LinkWatch.swift": "paths that were taken from the file system, and go back to it",
        "SyncAgent/Agent/Listeners.swift": "names of listeners, which are ours",
        "SyncAgent/Fetch/HTTP1Origins.swift": "origins",
        "SyncAgent/Service/PartProbes.swift": "names of the agent's parts",
        "SyncAgent/State/Database.swift": "names of columns, and statements",
        "SyncAgent/Store/CacheFolder+Shape.swift": "names of the cache's own folders",
        "SyncAgent/Store/FolderSearch.swift": "names in icons/ and by-url/",
        "SyncAgent/Store/HeldImages.swift": "numbers",
        "SyncAgent/Store/OfflinePurge.swift": "names in icons/",
        "SyncAgent/Store/Scrubber.swift": "names in by-url/",
        "SyncAgent/Store/Staging.swift": "names in staging/",
        "SyncAgent/Export/Export.swift": "paths of an export",
        "SyncPlan/Export/ExportFile.swift": "paths of an export",
        "SyncPlan/Export/UnnamedFiles.swift": "paths of an export",
        "SyncPlan/Fetch/DownloadSchedule.swift": "origins",
        "SyncPlan/Fetch/FetchQueue.swift": "origins",
        "SyncPlan/Freshness/HTTPFields.swift": "names of header fields",
        "SyncPlan/Lists/IconTally.swift": "origins",
        "SyncPlan/Remember/UnstoredChanges.swift": "origins",
        "SyncPlan/Upstream/UpstreamPlan.swift": "URLs of upstreams, as they are sent",
    ]

    private static let modules = [
        "AppLists", "CacheFormat", "IconCache", "ImageChecks", "ListParse", "ListWatch", "SyncAgent", "SyncPlan",
        "WebAddresses",
    ]

    @Test("String is a key only where it can be nothing but ASCII")
    func keys() throws {
        let sources = #filePath.split(separator: "/").dropLast(4).map { "/" + $0 }.joined() + "/Sources"
        var found: Set<String> = []
        for module in Self.modules {
            let files = try FileManager.default.subpathsOfDirectory(atPath: "\(sources)/\(module)")
            for file in files where file.hasSuffix(".swift") {
                let bytes = try #require(FileManager.default.contents(atPath: "\(sources)/\(module)/\(file)"))
                let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
                let code = lines.filter { !$0.drop { $0 == " " }.hasPrefix("//") }
                if code.contains(where: { $0.contains(/\[String: |Set<String>|Dictionary<String/) }) {
                    found.insert("\(module)/\(file)")
                }
            }
        }
        #expect(found.subtracting(Self.keyedByText.keys).sorted() == [], "use IconURL, ListName or another Identity")
        #expect(Set(Self.keyedByText.keys).subtracting(found).sorted() == [], "no String is a key here any longer")
    }
}
