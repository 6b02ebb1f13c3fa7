// SPDX-License-Identifier: Apache-2.0

// The types of the documents are part of the API.
@_exported public import CacheFormat
