// SPDX-License-Identifier: Apache-2.0
import AppLists
package import CacheFormat

/// What a rendition is found by without a document.
package enum RenditionSubject: Hashable, Sendable {
    /// A URL, in `by-size/`.
    case icon(IconURL)
    /// An app, in the icon theme: its identity, or its name.
    case app(ThemeIcon)
}

/// The name of an icon in an icon theme, which is that of its files without their suffix.
package struct ThemeIcon: Identity {
    package let text: String
    package init(_ text: String) { self.text = text }

    /// The name of an app's icon; `nil` if the app's identity cannot be the name of a file.
    init?(of app: String) {
        let isValid =
            (1...200).contains(app.utf8.count) && !app.starts(withBytes: ".")
            && app.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x2F && $0 != 0x7F }
        guard isValid else { return nil }
        self.init(app)
    }
}

/// Names of renditions to set and to remove.
package struct RenditionNaming: Sendable {
    package struct Name: Equatable, Sendable {
        /// The paths of the renditions.
        package var paths: [RenditionSize: String]
        /// Whether names in other sizes stay, because their renditions are still to be made.
        package var keepsOthers: Bool
    }

    package var names: [RenditionSubject: Name] = [:]
    package var removed: Set<RenditionSubject> = []
    package var sizes: [RenditionSize] = []
    /// Whether all names that are not among these are removed.
    package var isComplete = false
}

/// The names of renditions in the cache folder, which follow its newest generation.
///
/// No generation needs them, and none waits for them. While an image is being rendered, its name leads to the rendition
/// of the image before.
struct RenditionNames: Sendable {
    private static let retryDelay: Duration = .seconds(60)

    /// The names as they were set.
    private var named: [RenditionSubject: RenditionNaming.Name] = [:]
    private var isDue = false
    /// Whether it is unknown which names there are.
    private var isUnknown: Bool
    private(set) var isUnderWay = false
    private var desired: [RenditionSubject: RenditionNaming.Name] = [:]
    /// Why names could not be set, as a clause; `nil` if they could.
    private(set) var trouble: String?
    private var retry: Timestamp?

    /// `areThere` tells whether the cache folder has such names.
    init(areThere: Bool) { (isUnknown, isDue) = (areThere, areThere) }

    mutating func review() { isDue = true }

    /// Sets all names again: the settings changed, or the folder did.
    mutating func reviewAll() { (isDue, isUnknown) = (true, true) }

    var nextWake: Timestamp? { retry }

    func isIdle(at now: Timestamp) -> Bool { !isUnderWay && (!isDue || isWaiting(at: now)) }

    private func isWaiting(at now: Timestamp) -> Bool { retry.map { $0 > now } ?? false }

    /// Begins to set what is due; O(*n*) in the number of entries of all lists.
    mutating func begin(_ catalog: Catalog, _ renditions: Renditions, forApps: Bool, at now: Timestamp)
        -> RenditionNaming?
    {
        guard isDue, !isUnderWay, !isWaiting(at: now) else { return nil }
        (isDue, retry) = (false, nil)
        desired = Self.desired(catalog, renditions, forApps: forApps)
        var naming = RenditionNaming()
        (naming.sizes, naming.isComplete) = (renditions.sizes, isUnknown)
        naming.names = isUnknown ? desired : desired.filter { named[$0.key] != $0.value }
        naming.removed = Set(named.keys.lazy.filter { [desired] in desired[$0] == nil })
        guard isUnknown || !naming.names.isEmpty || !naming.removed.isEmpty else { return nil }
        isUnderWay = true
        return naming
    }

    mutating func end(trouble: String?, at now: Timestamp) {
        isUnderWay = false
        self.trouble = trouble
        if trouble == nil {
            (named, isUnknown) = (desired, false)
        } else {
            (isDue, isUnknown, retry) = (true, true, now + Self.retryDelay)
        }
        desired = [:]
    }

    private static func desired(
        _ catalog: Catalog, _ renditions: Renditions, forApps: Bool
    ) -> [RenditionSubject: RenditionNaming.Name] {
        guard renditions.isOn else { return [:] }
        var names: [RenditionSubject: RenditionNaming.Name] = [:]
        for (list, record) in catalog.lists.sorted(by: { $0.key < $1.key }) {
            for (index, entry) in record.entries.enumerated() {
                let own = catalog.icons[entry.icon]?.image
                let shown = own ?? catalog.previous.shown(for: entry.icon)?.image.wrappedValue
                if let shown, case let subject = RenditionSubject.icon(entry.icon), names[subject] == nil {
                    names[subject] = renditions.name(of: shown.sha256)
                }
                guard forApps, let app = (own ?? catalog.previous.of(index, in: list)?.image.wrappedValue),
                    let name = (entry.id ?? entry.name).flatMap(ThemeIcon.init(of:)), names[.app(name)] == nil
                else { continue }
                names[.app(name)] = renditions.name(of: app.sha256)
            }
        }
        return names
    }
}

extension Renditions {
    fileprivate func name(of original: Digest) -> RenditionNaming.Name {
        let paths = renditions(of: original).filter { !isStaged($0.image.sha256) }.map { ($0.size, $0.image.path) }
        return RenditionNaming.Name(
            paths: Dictionary(uniqueKeysWithValues: paths), keepsOthers: standing(of: original) == .pending)
    }
}
