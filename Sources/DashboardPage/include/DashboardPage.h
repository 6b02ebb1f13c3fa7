// SPDX-License-Identifier: Apache-2.0
#ifndef DASHBOARD_PAGE_H
#define DASHBOARD_PAGE_H

#include <stddef.h>

/// An embedded file, as it is in the source tree.
struct dashboard_file {
    /// Where it is served: `/dashboard.css`.
    const char *_Nonnull path;
    /// Its media type.
    const char *_Nonnull type;
    const unsigned char *_Nonnull bytes;
    size_t length;
};

/// The file at a path; NULL if there is none.
const struct dashboard_file *_Nullable dashboard_file(const char *_Nonnull path);

/// The description of the control API.
const struct dashboard_file *_Nonnull api_description(void);

#endif
