/* SPDX-License-Identifier: Apache-2.0 */
/* Opens and reads files that others may replace, and that may not be files. Results are 0, or errno(3) numbers. */
#ifndef ICONCACHE_FILE_H
#define ICONCACHE_FILE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    FILE_IS_NONE = ESPIPE, /* a folder, pipe, socket or device */
    FILE_IS_TOO_LARGE = EFBIG,
    FILE_IS_OUTSIDE = EXDEV
};

/* Opens a regular file for reading. It does not wait for a pipe. */
int file_open(const char *path, int *file);

/*
 * Opens the file at a path relative to a folder, below that: FILE_IS_OUTSIDE if a link leads elsewhere.
 *
 * Kernels before 5.6 cannot check that, and file_open_without_links() follows no link below the folder at all.
 */
int file_open_beneath(const char *folder, const char *path, int *file);
int file_open_without_links(const char *folder, const char *path, int *file);

/*
 * Reads an open file from its beginning; the file offset stays as it is. The caller frees the bytes. No manifest or
 * document has more than 1 GiB, so a longer file is FILE_IS_TOO_LARGE.
 *
 * It does not map the file: a reader of a mapped file that is cut short is killed by SIGBUS.
 */
int file_read(int file, unsigned char **bytes, size_t *size);
int file_read_path(const char *path, unsigned char **bytes, size_t *size);

/* Whether there is nothing at the path. */
bool file_is_absence(int error);
/* Whether the process or the system has no memory or no descriptor left, which says nothing about the file. */
bool file_is_shortage(int error);
/* Whether another host may have replaced the file, even while it was open. */
bool file_may_be_replaced(int error);

/* Closes a file; the error of a call before it stays in errno(3). */
void file_close(int file);

#endif
