// SPDX-License-Identifier: Apache-2.0
// Tries what the sandbox forbids: prints what was possible nevertheless, and ends with 1 then.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../Sources/Renderer/sandbox.h"

static int failures;

static void check(const char *name, long result) {
    if (result == -1 && errno == EPERM) return;
    failures++;
    char line[128];
    const char *error = result == -1 ? strerror(errno) : "no error";
    int length = snprintf(line, sizeof line, "%s gave %ld: %s\n", name, result, error);
    if (write(1, line, (size_t)length) < 0) failures++;
}

int main(void) {
    sandbox_enter();
    check("open", open("/etc/passwd", O_RDONLY));
    check("socket", socket(AF_UNIX, SOCK_STREAM, 0));
    check("fork", fork());
    check("execve", execl("/bin/true", "true", (char *)NULL));
    check("kill", kill(getppid(), 0));
    check("dup", dup(1));
    check("mmap of code", (long)mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) failures++;
    check("mprotect", mprotect(memory, 4096, PROT_READ | PROT_EXEC));
    // Its 600 MiB are over the limit.
    if (mmap(NULL, 600 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED) failures++;
    return failures == 0 ? 0 : 1;
}
