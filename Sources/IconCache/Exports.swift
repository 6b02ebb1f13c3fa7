// SPDX-License-Identifier: Apache-2.0

// Whoever reads a cache has its documents in hand.
@_exported public import CacheFormat
