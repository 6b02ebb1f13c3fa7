// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

// Icons that a user requests.
extension Reconciler {
    /// The icons of a selection; O(*n*) in the number of named lists and URLs, or of all icons if failed ones are
    /// selected.
    package func selected(by selection: IconSelection) -> SelectedIcons {
        var report = SelectionReport()
        report.unknown = selection.urls.filter { book.catalog.icons.id(of: $0) == nil }
        report.missing = selection.lists.filter { book.catalog.lists[$0] == nil }
        var urls = selection.urls
        if selection.failed {
            urls += book.catalog.icons.urls.filter { book.isDue($0, isRefresh: false) }
        }
        return SelectedIcons(
            urls: urls, listed: selection.lists.filter(knows(list:)).map(book.catalog.urls(in:)), report: report)
    }

    /// The number of these icons that a retry or a refresh would request.
    package func countDue(_ urls: [IconURL], isRefresh: Bool, isFull: Bool = false) -> Int {
        urls.count { book.isDue($0, isRefresh: isRefresh, isFull: isFull) }
    }
}
