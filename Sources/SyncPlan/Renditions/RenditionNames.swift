// SPDX-License-Identifier: Apache-2.0
import AppLists
package import CacheFormat

/// The key of a rendition's file name, by which it is found without a document.
package enum RenditionSubject: Hashable, Sendable {
    /// A URL, in `by-size/`.
    case icon(IconURL)
    /// An app, in the icon theme: its identity, or its name.
    case app(ThemeIcon)
}

/// The name of an icon in an icon theme: the name of its files without their suffix.
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

/// A name of a rendition, and the path of the image that it leads to.
package struct RenditionName: Equatable, Sendable {
    package var subject: RenditionSubject
    package var size: RenditionSize
    package var path: String
}

/// Names of renditions to set and to remove.
package struct RenditionNaming: Sendable {
    package struct Name: Equatable, Sendable {
        /// The paths of the renditions.
        package var paths: [RenditionSize: String]
        /// Whether names in other sizes stay, because their renditions are still to be made.
        package var keepsOthers: Bool

        package init(paths: [RenditionSize: String], keepsOthers: Bool) {
            (self.paths, self.keepsOthers) = (paths, keepsOthers)
        }
    }

    package var names: [RenditionSubject: Name] = [:]
    package var removed: Set<RenditionSubject> = []
    package var sizes: [RenditionSize] = []
    /// The complete set of subjects: names of other subjects are removed; `nil` if other names are not searched for.
    package var all: Set<RenditionSubject>?

    package init() {}
}

/// The names of renditions in the cache folder, which follow its newest generation.
///
/// No generation needs the names, and none waits for them for long: they are set in small steps. While an image is
/// being rendered, its name leads to the rendition of the image before.
struct RenditionNames: Sendable {
    /// The most names set in one step.
    private static let most = 1000
    private static let retryDelay: Duration = .seconds(60)

    /// The names that were set, by subject.
    private var named: [RenditionSubject: RenditionNaming.Name] = [:]
    /// The originals of damaged renditions, until they have new ones.
    private var damaged: Set<Digest> = []
    private var isDue = false
    /// Whether the names in the cache folder are unknown.
    private var isUnknown: Bool
    private var step: RenditionNaming?
    private var isStepValid = true
    /// Why names could not be set, as a clause; `nil` if they could.
    private(set) var trouble: String?
    /// When all names are set again, because some could not be.
    private var retry: Timestamp?

    /// `areThere` tells whether the cache folder has such names.
    init(areThere: Bool) { (isUnknown, isDue) = (areThere, areThere) }

    var isUnderWay: Bool { step != nil }

    /// Whether the cache folder may have names of renditions.
    var mayBeThere: Bool { isUnknown || !named.isEmpty }

    mutating func review() { isDue = true }

    /// Removes the names of damaged renditions of these originals; new renditions get names again.
    mutating func recordDamage(of originals: Set<Digest>) {
        damaged.formUnion(originals)
        // The names of these renditions may be wrong.
        reviewAll()
    }

    /// Sets all names again, because the settings or the cache folder may have changed.
    mutating func reviewAll() {
        (isDue, isUnknown, named, retry) = (true, true, [:], nil)
        // The step under way may be for other sizes, or in another folder.
        isStepValid = false
    }

    /// A random sample of the names that should be in place.
    func sample(atMost count: Int, using generator: inout SeededGenerator) -> [RenditionName] {
        guard step == nil, !isDue, retry == nil, !named.isEmpty else { return [] }
        return (0..<count).compactMap { _ in
            guard let (subject, name) = named.randomElement(using: &generator),
                let (size, path) = name.paths.min(by: { $0.key < $1.key })
            else { return nil }
            return RenditionName(subject: subject, size: size, path: path)
        }
    }

    var nextWake: Timestamp? { step == nil ? retry : nil }

    func isIdle(at now: Timestamp) -> Bool { step == nil && !isDue && retry.map { $0 > now } ?? true }

    /// Whether a step may be due.
    func mayBegin(at now: Timestamp) -> Bool { step == nil && (isDue || retry.map { $0 <= now } ?? false) }

    /// Begins the next step, if one is due; O(*n*) in the number of entries of all lists.
    mutating func begin(
        _ catalog: Catalog, _ renditions: Renditions, forApps: Bool, at now: Timestamp
    ) -> RenditionNaming? {
        if let retry, retry <= now { reviewAll() }
        guard isDue, step == nil else { return nil }
        damaged = damaged.filter { renditions.name(of: $0, isDamaged: false).keepsOthers }
        let desired = desired(catalog, renditions, forApps: forApps)
        var step = RenditionNaming()
        step.sizes = renditions.sizes
        let rest = desired.filter { named[$0.key] != $0.value }
        step.names =
            rest.count <= Self.most
            ? rest : Dictionary(uniqueKeysWithValues: rest.prefix(Self.most).map { ($0.key, $0.value) })
        step.removed = Set(named.keys.lazy.filter { desired[$0] == nil })
        isDue = rest.count > Self.most
        if isUnknown, !isDue { step.all = Set(desired.keys) }
        guard step.all != nil || !step.names.isEmpty || !step.removed.isEmpty else { return nil }
        (self.step, isStepValid) = (step, true)
        return step
    }

    /// Ends a step; if names could not be set, all are set again later.
    mutating func end(trouble: String?, at now: Timestamp) {
        guard let done = step else { preconditionFailure("no names were being set") }
        step = nil
        if let trouble {
            (self.trouble, retry) = (trouble, now + Self.retryDelay)
        } else if retry == nil {
            self.trouble = nil
        }
        guard isStepValid else { return }
        for subject in done.removed { named[subject] = nil }
        named.merge(done.names) { $1 }
        if done.all != nil { isUnknown = false }
    }

    private func desired(
        _ catalog: Catalog, _ renditions: Renditions, forApps: Bool
    ) -> [RenditionSubject: RenditionNaming.Name] {
        guard renditions.isOn else { return [:] }
        var names: [RenditionSubject: RenditionNaming.Name] = [:]
        for (_, list) in catalog.lists.sorted(by: { $0.key < $1.key }) {
            for (index, id) in list.icons.enumerated() {
                let icon = catalog.icons.url(of: id)
                let subject = RenditionSubject.icon(icon)
                if names[subject] == nil, let shown = catalog.images.digest(catalog.shownImage(for: icon)) {
                    names[subject] = name(of: shown, renditions)
                }
                guard forApps else { continue }
                let (entry, own) = (list.apps.details.entry(at: index, icon), catalog.icons[id].icon.image)
                guard let app = catalog.images.digest(own ?? list.apps[past: index].last?.image),
                    let name = (entry.id ?? entry.name).flatMap(ThemeIcon.init(of:)), names[.app(name)] == nil
                else { continue }
                names[.app(name)] = self.name(of: app, renditions)
            }
        }
        return names
    }

    private func name(of original: Digest, _ renditions: Renditions) -> RenditionNaming.Name {
        renditions.name(of: original, isDamaged: damaged.contains(original))
    }
}

extension Renditions {
    /// The names in other sizes may lead to renditions of the image before, unless some of these are damaged.
    fileprivate func name(of original: Digest, isDamaged: Bool) -> RenditionNaming.Name {
        let all = renditions(of: original)
        let paths = all.filter { !staged.contains($0.image.sha256) }.map { ($0.size, $0.image.path) }
        return RenditionNaming.Name(
            paths: Dictionary(uniqueKeysWithValues: paths),
            keepsOthers: !isDamaged && (standing(of: original) == .pending || paths.count < all.count))
    }
}
