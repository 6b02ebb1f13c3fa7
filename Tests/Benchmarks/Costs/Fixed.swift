// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import HTTPRules
import ListParse
import SyncPlan

/// Inputs that are the same in each run.
enum Fixed {
    static let start = Timestamp(sinceEpoch: .seconds(1_800_000_000))

    static let folder = ListedFolder(
        path: "/lists.d", identity: FolderIdentity(fileSystem: 1, device: 1, handle: [1]))

    static let space = DiskSpace(folder: "/cache", bytes: DiskSpace.Amount(free: 1 << 40, total: 1 << 41))

    static func url(_ number: Int, origin: Int) -> IconURL {
        IconURL("https://icons\(origin).example.com/apps/\(number)/icon-256.png")
    }

    static func image(of url: IconURL) -> AppListDocument.Image {
        let digest = Digest.of(url.text)
        return AppListDocument.Image(
            path: CacheLayout.image(digest, suffix: "png"), sha256: digest, bytes: 12_288, type: "image/png",
            width: 256, height: 256)
    }

    static func outcome(of url: IconURL) -> FetchOutcome {
        let fields = HTTPFields([
            ("ETag", "\"\(url.text.utf8.count)-5f3c\""), ("Cache-Control", "public, max-age=86400"),
            ("Date", "Fri, 15 Jan 2027 08:00:00 GMT"), ("Last-Modified", "Fri, 01 Jan 2027 08:00:00 GMT"),
        ])
        return .image(
            StagedImage(name: url.text, image: image(of: url)),
            StoredResponse(url: url.text, fields: fields, requestTime: start, responseTime: start))
    }

    /// What reading a list gives that names these URLs.
    static func reading(_ urls: [IconURL]) -> ListReading {
        let entries = urls.map { AppEntry(name: "App", icon: $0) }
        let source = AppListDocument.Source(sha256: .of(urls[0].text), bytes: urls.count, modified: start)
        return ListReading(source: source, verdict: .success(AppList(entries: entries)))
    }

    /// The XML property list that names these URLs.
    static func propertyList(_ urls: [IconURL]) -> [UInt8] {
        let entries = urls.enumerated().map { number, url in
            "<dict><key>name</key><string>App \(number)</string><key>icon</key><string>\(url)</string>"
                + "<key>download</key><string>\(number).\(number % 10)M</string></dict>\n"
        }
        return Array(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0"><array>
            \(entries.joined())</array></plist>
            """.utf8)
    }

    static func parsed(_ bytes: [UInt8]) -> ListReading {
        ListReading(
            source: AppListDocument.Source(sha256: .of(bytes), bytes: bytes.count, modified: start),
            verdict: ListParser().parse(bytes))
    }
}
