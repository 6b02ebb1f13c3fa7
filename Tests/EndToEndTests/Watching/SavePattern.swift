// SPDX-License-Identifier: Apache-2.0

/// A way in which programs save a file, as a shell script.
///
/// It finds in its environment: `LIST`, the list; `DIR`, the folder it is in; `SIDE`, a folder on the same file system;
/// `ELSEWHERE`, one on another; `NEW`, a file with what is to be in the list then; and `FROM` and `TO`, the only words that
/// differ between the two, which are equally long.
struct SavePattern: Sendable {
    /// What is to be seen of it.
    enum Effect: Sendable {
        case changed, removed, renamed
    }

    var name: String
    /// The programs that it needs.
    var tools: [String] = []
    /// What comes before, and changes nothing that is in the list.
    var preparation: String?
    var script: String
    /// What is to be cleaned up.
    var end: String?
    var effect = Effect.changed
    /// Whether the kernel tells nothing of it, so that only a look at the folder can find it.
    var isSilent = false

    /// Whether it is tried in every place: the others do what these do to a folder.
    var isTypical: Bool { Self.typical.contains(name) }

    private static let typical: Set = [
        "mv within a file system", "mv across file systems", "O_TMPFILE and linkat", "hard link",
        "symlink swap, as Kubernetes", "atomic exchange", "truncate and write", "late chmod", "mmap, then close",
        "mmap, without close", "delete", "rename",
    ]

    static let all: [SavePattern] =
        copies + editors + links + inPlace + [
            SavePattern(name: "delete", script: #"rm "$LIST""#, effect: .removed),
            SavePattern(name: "rename", script: #"mv "$LIST" "$DIR/other.plist""#, effect: .renamed),
        ]

    private static let copies = [
        SavePattern(name: "cp", script: #"cp "$NEW" "$LIST""#),
        SavePattern(name: "mv within a file system", script: #"cp "$NEW" "$SIDE/new"; mv "$SIDE/new" "$LIST""#),
        SavePattern(
            name: "mv across file systems", script: #"cp "$NEW" "$ELSEWHERE/new.$$"; mv "$ELSEWHERE/new.$$" "$LIST""#),
        SavePattern(name: "rsync", tools: ["rsync"], script: #"rsync --ignore-times "$NEW" "$LIST""#),
        SavePattern(
            name: "slow chunks, as scp", tools: ["python3"],
            script: python(
                """
                import time
                with open(path, "wb", buffering=0) as file:
                    for start in range(0, len(new), 64):
                        time.sleep(0.15)
                        file.write(new[start:start + 64])
                """)),
        SavePattern(name: "backup with an old mtime", script: #"touch -d @981173106 "$NEW"; cp -p "$NEW" "$LIST""#),
        SavePattern(
            name: "O_TMPFILE and linkat", tools: ["python3"],
            script: python(
                """
                file = os.open(os.environ["DIR"], os.O_TMPFILE | os.O_WRONLY, 0o644)
                os.write(file, new)
                os.unlink(path)
                os.link(f"/proc/self/fd/{file}", path, src_dir_fd=file, follow_symlinks=True)
                """)),
    ]

    private static let editors = [
        SavePattern(name: "sed -i", script: #"sed -i "s/$FROM/$TO/g" "$LIST""#),
        SavePattern(
            name: "vim", tools: ["vim"], script: #"vim -es -u NONE -N -c "%s/$FROM/$TO/g" -c wq "$LIST""#),
        SavePattern(
            name: "emacs", tools: ["emacs"],
            script: #"""
                emacs --batch -Q "$LIST" --eval \
                    "(progn (while (search-forward \"$FROM\" nil t) (replace-match \"$TO\")) (save-buffer))"
                """#),
        SavePattern(
            name: "plistlib", tools: ["python3"],
            script: python(
                """
                import plistlib
                with open(path, "wb") as file: plistlib.dump(plistlib.loads(new), file, fmt=plistlib.FMT_BINARY)
                """)),
    ]

    private static let links = [
        SavePattern(name: "hard link", script: #"cp "$NEW" "$SIDE/hard"; ln -f "$SIDE/hard" "$LIST""#),
        SavePattern(name: "symlink", script: #"cp "$NEW" "$SIDE/soft"; ln -sf "$SIDE/soft" "$LIST""#),
        SavePattern(
            name: "symlink swap, as Kubernetes",
            preparation: #"""
                cd "$DIR"; mkdir ..1 ..2; cp apps.plist ..1; cp "$NEW" ..2/apps.plist; ln -s ..1 ..data
                ln -sf ..data/apps.plist apps.plist
                """#,
            script: #"cd "$DIR"; ln -s ..2 ..data_tmp; mv -T ..data_tmp ..data"#, end: #"rm -r "$DIR"/..[12d]*"#),
        SavePattern(
            name: "atomic exchange", tools: ["python3"],
            script: #"cp "$NEW" "$SIDE/exchange"; "#
                + python(
                    """
                    import ctypes
                    side = os.environ["SIDE"] + "/exchange"
                    libc = ctypes.CDLL(None, use_errno=True)
                    if libc.renameat2(-100, side.encode(), -100, path.encode(), 2): raise OSError(ctypes.get_errno())
                    """)),
    ]

    private static let inPlace = [
        SavePattern(
            name: "truncate and write", tools: ["python3"],
            script: python(
                """
                with open(path, "r+b", buffering=0) as file:
                    file.truncate(0)
                    file.write(new)
                """)),
        SavePattern(
            name: "late chmod", preparation: nil,
            script: #"cp "$NEW" "$SIDE/new"; chmod 0 "$SIDE/new"; mv -f "$SIDE/new" "$LIST"; chmod 644 "$LIST""#),
        SavePattern(
            name: "mmap, then close", tools: ["python3"],
            script: python(
                """
                import mmap
                with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0) as memory: memory[:] = new
                """)),
        SavePattern(
            name: "mmap, without close", tools: ["python3"],
            script: #"rm -f "$SIDE/pid"; ( "#
                + python(
                    """
                    import mmap, signal
                    with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
                        memory[:] = new
                        open(os.environ["SIDE"] + "/pid", "w").write(str(os.getpid()))
                        signal.alarm(60)
                        signal.pause()
                    """)
                + #" ) >/dev/null 2>&1 & until [ -s "$SIDE/pid" ]; do :; done"#,
            end: #"kill $(cat "$SIDE/pid")"#, isSilent: true),
        SavePattern(
            name: "a symlink's target", preparation: #"cp "$LIST" "$SIDE/target"; ln -sf "$SIDE/target" "$LIST""#,
            script: #"cp "$NEW" "$SIDE/target""#),
        SavePattern(
            name: "a symlink's new target", preparation: #"cp "$LIST" "$SIDE/aim"; ln -sf "$SIDE/aim" "$LIST""#,
            script: #"cp "$NEW" "$SIDE/new"; mv "$SIDE/new" "$SIDE/aim""#),
        SavePattern(
            name: "a link of two, as NixOS",
            preparation: #"""
                cd "$SIDE"; cp "$LIST" v1; cp "$NEW" v2; ln -sfn v1 current; ln -sf "$SIDE/current" "$LIST"
                """#,
            script: #"cd "$SIDE"; ln -s v2 next; mv -T next current"#),
        SavePattern(
            name: "another hard link", preparation: #"ln -f "$LIST" "$SIDE/other""#,
            script: #"cat "$NEW" > "$SIDE/other""#),
    ]

    private static func python(_ text: String) -> String {
        let beginning = #"import os; path = os.environ["LIST"]; new = open(os.environ["NEW"], "rb").read()"#
        return "python3 -c '\(beginning)\n\(text)\n'"
    }
}
