// SPDX-License-Identifier: Apache-2.0
#ifndef ARTICLES_H
#define ARTICLES_H

/// The article Codes, as Markdown.
const char *_Nonnull codes_article(void);

/// The article Operation, as Markdown.
const char *_Nonnull operation_article(void);

#endif
