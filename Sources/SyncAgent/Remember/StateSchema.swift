// SPDX-License-Identifier: Apache-2.0

extension StateStore {
    /// The present version of the tables.
    static let version = 6

    /// The version of the tables in a database; 0 if it is new.
    static func version(of database: Database) throws -> Int {
        try database.text("PRAGMA user_version").flatMap { Int($0) } ?? 0
    }

    /// Makes the table in a new database, and moves what those of earlier versions have into it.
    static func migrate(_ database: Database) throws {
        let found = try version(of: database)
        // A later version's tables are not known here: what is missed in them is damage.
        guard found < version else { return }
        try database.transaction {
            // Version 5 has the same table, with fewer kinds of rows.
            if found < 5 { try database.execute(MemoRows.schema) }
            if found > 0, found < 5 { try database.execute(upgrade) }
            try database.execute("PRAGMA user_version = \(version)")
        }
    }

    /// Moves everything from the tables of versions 1 to 4, of which each kind of memo had one.
    private static let upgrade = """
        -- Not all versions had these.
        CREATE TABLE IF NOT EXISTS list (name, sha256, rules);
        CREATE TABLE IF NOT EXISTS rejection (name, code, message, kept);
        CREATE TABLE IF NOT EXISTS upstream (url, published, generation, manifest);

        INSERT INTO memos SELECT 'icon', url, '[ ' || json_quote(image)
            || ', ' || iif(fresh_until < 0, 'null', fresh_until)
            || ', ' || iif(status IS NULL, 'null', '[ ' || status
                || ', ' || iif(response_url = url, '""', json_quote(response_url)) || ', ' || json_quote(fields)
                || ', ' || request_time || ', ' || response_time || ' ]')
            || ', ' || iif(failure IS NULL, 'null', '[ ' || json_quote(failure)
                || ', ' || json_quote(replace(replace(message, char(8), ' '), char(12), ' '))
                || ', ' || attempts || ', ' || json_quote(next_attempt) || ' ]')
            || ', ' || coalesce(replace(trail, json_quote(url), '""'), 'null') || ' ]' FROM icon;
        INSERT INTO memos SELECT 'origin', origin, json_object('origin', origin,
            'health', json_object('failures', failures, 'waitsUntil', waits_until)) FROM origin;
        INSERT INTO memos SELECT 'list', name, json_object('list', name, 'sha256', sha256, 'rules', rules) FROM list;
        INSERT INTO memos SELECT 'rejection', name, json_object('list', name, 'code', code, 'message', message,
            'isKept', json(iif(kept, 'true', 'false'))) FROM rejection;
        INSERT INTO memos SELECT 'superseded', generation, json_object('elapsed', elapsed, 'boot', boot,
            'awake', since_boot) FROM superseded;
        INSERT INTO memos SELECT 'values', '', json_object(
            'values', json_object(
                'isPaused', json(iif((SELECT count(*) FROM pause), 'true', 'false')),
                'hold', json((SELECT json_object('since', 0, 'generation', generation, 'images', images,
                    'total', total, 'isConfirmed', json(iif(is_confirmed, 'true', 'false'))) FROM hold)),
                'folder', json((SELECT json_object('fileSystem', json(printf('%u', file_system)),
                    'device', json(printf('%u', device)), 'handle', json((
                        WITH RECURSIVE byte(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM byte WHERE n < length(handle))
                        SELECT json_group_array(instr('123456789ABCDEF', substr(hex(handle), 2 * n - 1, 1)) * 16
                            + instr('123456789ABCDEF', substr(hex(handle), 2 * n, 1)))
                        FROM byte WHERE n <= length(handle)))) FROM folder WHERE length(handle) <= 1024)),
                'newestGeneration', coalesce((SELECT generation FROM newest), 0),
                'upstreams', json((SELECT json_group_array(json_object('url', url, 'published', published,
                    'generation', generation, 'sha256', manifest)) FROM upstream))),
            'holdAge', json((SELECT json_object('elapsed', elapsed, 'boot', boot, 'awake', since_boot) FROM hold)));

        DROP TABLE icon; DROP TABLE origin; DROP TABLE list; DROP TABLE rejection; DROP TABLE superseded;
        DROP TABLE pause; DROP TABLE hold; DROP TABLE folder; DROP TABLE newest; DROP TABLE upstream;
        """
}
