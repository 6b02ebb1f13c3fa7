// SPDX-License-Identifier: Apache-2.0

// The types of manifests and documents are part of this library's API.
@_exported public import CacheFormat
