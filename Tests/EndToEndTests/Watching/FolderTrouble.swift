// SPDX-License-Identifier: Apache-2.0

/// Something that takes the lists folder away, as shell scripts.
///
/// They find in their environment `LISTS`, the lists folder; `PARENT`, the folder it is in; and `ASIDE`, where there is nothing yet.
struct FolderTrouble: Sendable {
    var name: String
    /// What makes the lists folder, in place of a plain one.
    var preparation = #"mkdir "$LISTS""#
    var script: String
    var remedy: String
    /// Whether only root can do it.
    var isRoots = false
    /// What the reason has in it.
    var reason: String

    /// The reason where there is a folder, and no list in it.
    static let empty = "is empty"

    static let all: [FolderTrouble] =
        plain + mounts + [
            FolderTrouble(
                name: "chmod 000", script: #"chmod 0 "$LISTS""#, remedy: #"chmod 755 "$LISTS""#,
                reason: "Permission denied"),
            FolderTrouble(
                name: "chmod 000 of the parent", script: #"chmod 0 "$PARENT""#, remedy: #"chmod 755 "$PARENT""#,
                reason: "Permission denied"),
        ]

    private static let plain = [
        FolderTrouble(
            name: "rm -rf", script: #"cp -a "$LISTS" "$ASIDE"; rm -rf "$LISTS""#, remedy: #"mv "$ASIDE" "$LISTS""#,
            reason: "No such file"),
        FolderTrouble(
            name: "rm -rf and mkdir", script: #"cp -a "$LISTS" "$ASIDE"; rm -rf "$LISTS"; mkdir "$LISTS""#,
            remedy: #"cp "$ASIDE"/*.plist "$LISTS""#, reason: empty),
        FolderTrouble(
            name: "renamed", script: #"mv "$LISTS" "$ASIDE""#, remedy: #"mv "$ASIDE" "$LISTS""#, reason: "No such file"),
        FolderTrouble(
            name: "renamed, and mkdir", script: #"mv "$LISTS" "$ASIDE"; mkdir "$LISTS""#,
            remedy: #"rmdir "$LISTS"; mv "$ASIDE" "$LISTS""#, reason: empty),
        FolderTrouble(
            name: "a file in its place", script: #"mv "$LISTS" "$ASIDE"; touch "$LISTS""#,
            remedy: #"rm "$LISTS"; mv "$ASIDE" "$LISTS""#, reason: "Not a directory"),
        FolderTrouble(
            name: "parent renamed", script: #"mv "$PARENT" "$ASIDE""#, remedy: #"mv "$ASIDE" "$PARENT""#,
            reason: "No such file"),
        FolderTrouble(
            name: "parent renamed, and mkdir -p", script: #"mv "$PARENT" "$ASIDE"; mkdir -p "$LISTS""#,
            remedy: #"rm -r "$PARENT"; mv "$ASIDE" "$PARENT""#, reason: empty),
    ]

    private static let mounts = [
        FolderTrouble(
            name: "umount of a tmpfs",
            preparation: #"mkdir "$LISTS" "$ASIDE"; mount -t tmpfs none "$ASIDE"; mount --bind "$ASIDE" "$LISTS""#,
            script: #"umount "$LISTS""#, remedy: #"mount --bind "$ASIDE" "$LISTS""#, isRoots: true, reason: empty),
        FolderTrouble(
            name: "umount of the same file system",
            preparation: #"mkdir "$LISTS" "$ASIDE"; mount --bind "$ASIDE" "$LISTS""#,
            script: #"umount "$LISTS""#, remedy: #"mount --bind "$ASIDE" "$LISTS""#, isRoots: true, reason: empty),
        FolderTrouble(
            name: "deleted below its mount",
            preparation: #"mkdir "$LISTS" "$ASIDE"; mount --bind "$ASIDE" "$LISTS""#,
            script: #"cp -a "$ASIDE" "$ASIDE.new"; rm -rf "$ASIDE"; mv "$ASIDE.new" "$ASIDE""#,
            remedy: #"umount "$LISTS"; mount --bind "$ASIDE" "$LISTS""#, isRoots: true, reason: "restart the container"),
        FolderTrouble(
            name: "mount over", script: #"mount -t tmpfs none "$LISTS""#, remedy: #"umount "$LISTS""#, isRoots: true,
            reason: empty),
        FolderTrouble(
            name: "mount over, same file system", script: #"mkdir "$ASIDE"; mount --bind "$ASIDE" "$LISTS""#,
            remedy: #"umount "$LISTS""#, isRoots: true, reason: empty),
        FolderTrouble(
            name: "mount over the parent", script: #"mount -t tmpfs none "$PARENT""#, remedy: #"umount "$PARENT""#,
            isRoots: true, reason: "No such file"),
    ]
}
