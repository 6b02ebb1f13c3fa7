// SPDX-License-Identifier: Apache-2.0
import CCurl

/// A list of strings for libcurl; it must outlive the transfers that read it.
final class CurlList {
    private(set) var first: UnsafeMutablePointer<curl_slist>?

    init(_ texts: some Sequence<String>) {
        for text in texts { first = curl_slist_append(first, text) }
    }

    deinit {
        curl_slist_free_all(first)
    }
}
