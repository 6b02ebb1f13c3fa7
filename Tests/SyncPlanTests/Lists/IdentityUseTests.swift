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
        "CacheFormat/JSON+Encoding.swift": "names of properties, which are ours",
        "CacheFormat/AppListDocument+JSON.swift": "sizes of renditions",
        "CacheFormat/Manifest.swift": "what a JSON decoder gives, before each line is decoded on its own",
        "ListWatch/LinkWatch.swift": "paths that were taken from the file system, and go back to it",
        "SyncAgent/Agent/Listeners.swift": "names of listeners, which are ours",
        "SyncAgent/Service/PartProbes.swift": "names of the agent's parts",
        "SyncAgent/Remember/Database.swift": "names of columns, and statements",
        "SyncAgent/Cache/CacheFolder+Shape.swift": "names of the cache's own folders",
        "SyncAgent/Cache/FolderSearch.swift": "names in icons/ and by-url/",
        "SyncAgent/Evict/HeldImages.swift": "numbers",
        "SyncAgent/Evict/OfflinePurge.swift": "names in icons/",
        "SyncAgent/Cache/Scrubber.swift": "names in by-url/",
        "SyncAgent/Fetch/Staging.swift": "names in staging/",
        "SyncAgent/Fleet/Export.swift": "paths of an export",
        "Fleet/Export/ExportFile.swift": "paths of an export",
        "Fleet/Export/UnnamedFiles.swift": "paths of an export",
        "SyncPlan/Fetch/DownloadSchedule.swift": "origins",
        "SyncPlan/Fetch/FetchQueue.swift": "origins",
        "HTTPRules/Requests/HTTPFields.swift": "names of header fields",
        "HTTPRules/Credentials/Credentials.swift": "hosts and paths, in ASCII",
        "SyncAgent/Fleet/AdoptedLists.swift": "names of the folders of upstreams",
        "SyncPlan/Icons/IconTally.swift": "origins",
        "SyncPlan/Remember/UnstoredChanges.swift": "origins",
        "SyncPlan/Renditions/Renditions.swift": "names in staging/",
        "Fleet/Upstreams/IconSources.swift": "URLs of upstreams, as they are sent",
    ]

    private static let modules = [
        "AppLists", "CacheFormat", "Fleet", "HTTPRules", "IconCache", "ImageChecks", "ListParse", "ListWatch",
        "Reports",
        "SyncAgent", "SyncPlan",
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
