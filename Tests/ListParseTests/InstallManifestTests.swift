// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import ListParse
import Testing

@Suite("Over-the-air install manifests")
struct InstallManifestTests {
    private static let manifest = """
        <?xml version="1.0" encoding="UTF-8"?>
        <plist version="1.0"><dict><key>items</key><array><dict>
          <key>assets</key><array>
            <dict><key>kind</key><string>software-package</string><key>url</key><string>https://e.org/a.ipa</string></dict>
            <dict><key>kind</key><string>display-image</string><key>needs-shine</key><true/>
              <key>url</key><string>https://e.org/57.png</string></dict>
            <dict><key>kind</key><string>full-size-image</string><key>url</key><string>https://e.org/512.png</string></dict>
          </array>
          <key>metadata</key><dict><key>kind</key><string>software</string><key>title</key><string>Mail</string></dict>
        </dict></array></dict></plist>
        """

    @Test("both images of an item are entries, with the item's title")
    func images() {
        let entries = ["57", "512"].map { AppEntry(name: "Mail", icon: "https://e.org/\($0).png") }
        #expect(ListParser().parse(Self.manifest) == .success(AppList(entries: entries)))
    }

    @Test("each image is known by the item's identifier and by its kind")
    func identity() throws {
        let manifest = Self.manifest.replacing(
            "<dict><key>kind</key><string>software</string>",
            with: "<dict><key>bundle-identifier</key><string>org.e.mail</string>")
        let list = try ListParser().parse(manifest).get()
        #expect(list.entries.map(\.id) == ["org.e.mail display-image", "org.e.mail full-size-image"])
    }

    @Test(
        "a bad value is reported with its key path, and the rest counts",
        arguments: [
            ("{assets = (1, {kind = (); url = http://a/2;});}", "items[1].assets: no display-image or full-size-image"),
            ("{assets = ({kind = \"display-image\";});}", "items[1].assets[0].url: not a string"),
            (
                "{assets = ({kind = \"full-size-image\"; url = a.png;});}",
                "items[1].assets[0].url: relative URL, and lists.iconBaseURL is not set"
            ),
            ("{assets = ();}", "items[1].assets: no display-image or full-size-image"),
            ("{assets = a;}", "items[1]: no icon key (icon, icon_url, iconURL, iconUrl, artwork)"),
        ])
    func problems(item: String, problem: String) throws {
        let good = "{assets = ({kind = \"display-image\"; url = http://a/1;}); metadata = {title = Mail;};}"
        let list = try ListParser().parse("{items = (\(good), \(item));}").get()
        #expect(list.entries == [AppEntry(name: "Mail", icon: "http://a/1")])
        #expect(list.problems.last?.description == problem)
    }

    @Test("an identifier that its kind makes too long is none, with images and without them")
    func longIdentifier() throws {
        let asset = "{kind = \"full-size-image\"; url = http://a/1;}"
        let longest = AppEntry.maxTextBytes - "full-size-image".utf8.count - 1
        for (count, isKept) in [(longest, true), (longest + 1, false), (AppEntry.maxTextBytes, false)] {
            let metadata = "metadata = {\"bundle-identifier\" = \(String(repeating: "i", count: count));};"
            let list = try ListParser().parse("{items = ({assets = (\(asset)); \(metadata)}, {\(metadata)});}").get()
            #expect(list.entries.map { $0.id?.utf8.count } == [isKept ? AppEntry.maxTextBytes : nil])
            #expect(list.unusable.count == 2)
            #expect((list.unusable.last?.id != nil) == isKept)
        }
    }

    @Test(
        "an item that has lost its assets is an app of its metadata without an image of either kind",
        arguments: [
            (
                "{metadata = {title = Maps; \"bundle-identifier\" = b;};}",
                ["display-image", "full-size-image"].map { lost("Maps", "b \($0)", at: "items[1].assets") }
            ),
            (
                "{assets = a; metadata = {title = Maps;};}",
                Array(repeating: lost("Maps", nil, at: "items[1].assets"), count: 2)
            ),
            ("{name = Maps; metadata = {title = Other;};}", [lost("Maps", nil, at: "items[1]")]),
            ("{metadata = {kind = software;};}", [lost(nil, nil, at: "items[1]")]),
        ])
    func lostAssets(item: String, unusable: [UnusableEntry]) throws {
        let good = "{assets = ({kind = \"display-image\"; url = http://a/1;});}"
        let list = try ListParser().parse("{items = (\(good), \(item));}").get()
        #expect(list.unusable == unusable && list.problems.map(\.keyPath) == unusable.prefix(1).map(\.keyPath))
    }

    private static func lost(_ name: String?, _ id: String?, at keyPath: String) -> UnusableEntry {
        UnusableEntry(index: 1, name: name, id: id, keyPath: keyPath)
    }

    @Test("a manifest all of whose items have lost their assets is rejected with the reason of the first one")
    func allLost() {
        let rejection = ListRejection.noUsableEntry("items[0].assets: no display-image or full-size-image")
        #expect(ListParser().parse("{items = ({metadata = {title = A;};});}") == .failure(rejection))
    }

    @Test("a title that is no text, and an asset that is no dictionary, are reported")
    func oddTypes() throws {
        let asset = "{kind = \"display-image\"; url = http://a/1;}"
        let list = try ListParser().parse("{items = ({assets = ((a), \(asset)); metadata = {title = ();};});}").get()
        #expect(list.entries == [AppEntry(icon: "http://a/1")])
        #expect(
            list.problems.map(\.description)
                == ["items[0].metadata.title: not a string", "items[0].assets[0]: not a dictionary"])
    }

    @Test("assets count as entries")
    func limit() {
        let asset = "{kind = \"display-image\"; url = http://a/1;}"
        let parser = ListParser(limits: ListLimits(maxEntries: 3))
        #expect(parser.parse("{items = ({assets = (\(asset), \(asset));});}").code == nil)
        #expect(parser.parse("{items = ({assets = (\(asset), \(asset), \(asset));});}").code == "too-many-entries")
        // Each is an app without its two images.
        #expect(parser.parse("{items = ({assets = ();}, {assets = ();});}").code == "too-many-entries")
    }
}
