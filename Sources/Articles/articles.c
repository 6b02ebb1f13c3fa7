// SPDX-License-Identifier: Apache-2.0
// The articles are a part of the program: what it explains is what they say.
#include "Articles.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char codes[] = {
#embed "../SyncAgent/SyncAgent.docc/Codes.md" suffix(, 0)
};
static const unsigned char operation[] = {
#embed "../SyncAgent/SyncAgent.docc/Operation.md" suffix(, 0)
};

const char *codes_article(void) { return (const char *)codes; }

const char *operation_article(void) { return (const char *)operation; }
