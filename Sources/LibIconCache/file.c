/* SPDX-License-Identifier: Apache-2.0 */
#include "file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__has_include)
#if __has_include(<linux/openat2.h>)
#include <linux/openat2.h>
#endif
#endif

enum { FLAGS = O_RDONLY | O_CLOEXEC | O_NOCTTY };

void file_close(int file) {
    int before = errno;
    close(file);
    errno = before;
}

bool file_is_absence(int error) { return error == ENOENT || error == ENOTDIR; }

bool file_is_shortage(int error) { return error == ENOMEM || error == EMFILE || error == ENFILE; }

bool file_may_be_replaced(int error) { return error == ESTALE || error == ENOENT || error == EIO; }

static int open_at(int folder, const char *path, int flags) {
    int file;
    do {
        file = openat(folder, path, flags);
    } while (file < 0 && errno == EINTR);
    return file;
}

/* Closes what is no regular file, and turns an error of opening one into a result. */
static int check_opened(int file, int *result) {
    struct stat status;
    if (file < 0) return errno == ENXIO ? FILE_IS_NONE : errno;
    if (fstat(file, &status) != 0) {
        file_close(file);
        return errno;
    }
    if (!S_ISREG(status.st_mode)) {
        file_close(file);
        return FILE_IS_NONE;
    }
    *result = file;
    return 0;
}

/* Opens without waiting, unless another process holds a lease of the kernel on the file (F_SETLEASE). */
static int open_soon(int folder, const char *path, int flags) {
    int file = open_at(folder, path, FLAGS | O_NONBLOCK | flags);
    struct stat status;
    bool is_leased = file < 0 && errno == EWOULDBLOCK && fstatat(folder, path, &status, 0) == 0
        && S_ISREG(status.st_mode);
    return is_leased ? open_at(folder, path, FLAGS | flags) : file;
}

int file_open(const char *path, int *file) { return check_opened(open_soon(AT_FDCWD, path, 0), file); }

static int open_folder(int parent, const char *path, int flags) {
    return open_at(parent, path, O_PATH | O_DIRECTORY | O_CLOEXEC | flags);
}

int file_open_without_links(const char *folder, const char *path, int *file) {
    int parent = open_folder(AT_FDCWD, folder, 0);
    if (parent < 0) return errno;
    const char *slash;
    while ((slash = strchr(path, '/')) != NULL) {
        char name[256];
        size_t length = (size_t)(slash - path);
        bool is_name = length > 0 && length < sizeof name && path[0] != '.';
        if (!is_name) {
            file_close(parent);
            return FILE_IS_OUTSIDE;
        }
        memcpy(name, path, length);
        name[length] = '\0';
        int child = open_folder(parent, name, O_NOFOLLOW);
        struct stat status;
        bool is_link = child < 0 && errno == ENOTDIR && fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) == 0
            && S_ISLNK(status.st_mode);
        int error = is_link ? FILE_IS_OUTSIDE : errno;
        close(parent);
        if (child < 0) return error;
        parent = child;
        path = slash + 1;
    }
    int error = check_opened(open_soon(parent, path, O_NOFOLLOW), file);
    close(parent);
    return error == ELOOP ? FILE_IS_OUTSIDE : error;
}

#if defined(SYS_openat2) && defined(RESOLVE_BENEATH)

static int open_beneath(int folder, const char *path, int flags) {
    struct open_how how = {.flags = (unsigned)(FLAGS | flags), .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    long file;
    /* EAGAIN: a folder was renamed meanwhile, or a lease of the kernel is on the file. */
    int attempts = 100;
    do {
        file = syscall(SYS_openat2, folder, path, &how, sizeof how);
    } while (file < 0 && (errno == EINTR || (errno == EAGAIN && --attempts > 0)));
    return (int)file;
}

int file_open_beneath(const char *folder, const char *path, int *file) {
    int parent = open_folder(AT_FDCWD, folder, 0);
    if (parent < 0) return errno;
    int opened = open_beneath(parent, path, O_NONBLOCK);
    struct stat status;
    bool is_leased = opened < 0 && errno == EAGAIN && fstatat(parent, path, &status, 0) == 0
        && S_ISREG(status.st_mode);
    if (is_leased) opened = open_beneath(parent, path, 0);
    /* The kernel is older, or a filter of system calls does not know this one. */
    bool is_unknown = opened < 0 && (errno == ENOSYS || errno == EPERM);
    int error = is_unknown ? 0 : check_opened(opened, file);
    close(parent);
    if (is_unknown) return file_open_without_links(folder, path, file);
    return error == ELOOP ? FILE_IS_OUTSIDE : error;
}

#else

int file_open_beneath(const char *folder, const char *path, int *file) {
    return file_open_without_links(folder, path, file);
}

#endif

int file_read(int file, unsigned char **bytes, size_t *size) {
    enum { LONGEST = 1 << 30 };
    struct stat status;
    if (fstat(file, &status) != 0) return errno;
    if (status.st_size > LONGEST) return FILE_IS_TOO_LARGE;
    /* One byte more shows the end of the file without another allocation. */
    size_t capacity = status.st_size > 0 ? (size_t)status.st_size + 1 : 4096;
    unsigned char *buffer = malloc(capacity);
    if (buffer == NULL) return ENOMEM;
    size_t count = 0;
    for (;;) {
        if (count == capacity) {
            unsigned char *larger = count > LONGEST ? NULL : realloc(buffer, 2 * capacity);
            if (larger == NULL) {
                free(buffer);
                return count > LONGEST ? FILE_IS_TOO_LARGE : ENOMEM;
            }
            buffer = larger;
            capacity *= 2;
        }
        ssize_t result = pread(file, buffer + count, capacity - count, (off_t)count);
        if (result < 0 && errno == EINTR) continue;
        if (result < 0) {
            int error = errno;
            free(buffer);
            return error;
        }
        if (result == 0) break;
        count += (size_t)result;
    }
    *bytes = buffer;
    *size = count;
    return 0;
}

int file_read_path(const char *path, unsigned char **bytes, size_t *size) {
    int file;
    int error = file_open(path, &file);
    if (error != 0) return error;
    error = file_read(file, bytes, size);
    close(file);
    return error;
}
