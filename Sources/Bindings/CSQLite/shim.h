// SPDX-License-Identifier: Apache-2.0
// The database, and what Swift cannot call or see of it.
#include <sqlite3.h>

// SQLITE_TRANSIENT is a cast, which Swift does not see: the bytes are copied. A null pointer would be NULL, not "".
static inline int sqlite_bind_text_copy(sqlite3_stmt *statement, int index, const char *bytes, int count) {
    return sqlite3_bind_text(statement, index, bytes ? bytes : "", count, SQLITE_TRANSIENT);
}
