/* Preloaded into a program, refuses one of its calls, as a failing disk does, or a lack of memory or of threads.
 *
 * REFUSE_CALL says which kind: "open", "read", "write", "allocate" or "thread"; REFUSE_AT which of them, counted from 0. Of
 * reads and writes those count that are of files in the folder REFUSE_IN, named or not; of files and folders that are
 * opened, those with relative names; of allocations those that are large. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Smaller ones are made all over std and the library, for a table or a bucket. */
#define LARGE (512 << 10)

static int is_refused(const char *call) {
    static atomic_long passed;
    const char *refused = getenv("REFUSE_CALL");
    return refused && !strcmp(refused, call) && atomic_fetch_add(&passed, 1) == atol(getenv("REFUSE_AT"));
}

static int is_in_folder(int file) {
    const char *folder = getenv("REFUSE_IN");
    char link[32], name[4096] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    return folder && readlink(link, name, sizeof name) > 0 && !strncmp(name, folder, strlen(folder));
}

ssize_t read(int file, void *into, size_t count) {
    if (is_in_folder(file) && is_refused("read")) return errno = EIO, -1;
    return syscall(SYS_read, file, into, count);
}

ssize_t pread64(int file, void *into, size_t count, off64_t at) {
    if (is_in_folder(file) && is_refused("read")) return errno = EIO, -1;
    return syscall(SYS_pread64, file, into, count, at);
}

ssize_t write(int file, const void *from, size_t count) {
    if (is_in_folder(file) && is_refused("write")) return errno = ENOSPC, -1;
    return syscall(SYS_write, file, from, count);
}

ssize_t copy_file_range(int from, off64_t *at, int to, off64_t *place, size_t count, unsigned flags) {
    if (is_in_folder(to) && is_refused("write")) return errno = ENOSPC, -1;
    return syscall(SYS_copy_file_range, from, at, to, place, count, flags);
}

int open64(const char *name, int flags, ...) {
    if (*name != '/' && is_refused("open")) return errno = EMFILE, -1;
    va_list mode;
    va_start(mode, flags);
    int file = syscall(SYS_openat, AT_FDCWD, name, flags, va_arg(mode, int));
    va_end(mode);
    return file;
}

DIR *opendir(const char *name) {
    if (*name != '/' && is_refused("open")) return errno = EMFILE, NULL;
    DIR *(*next)(const char *) = dlsym(RTLD_NEXT, "opendir");
    return next(name);
}

/* glibc's own names of its allocator: looking for the next `malloc` would allocate. */
void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);

void *malloc(size_t bytes) {
    if (bytes >= LARGE && is_refused("allocate")) return errno = ENOMEM, NULL;
    return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes) {
    if (count * bytes >= LARGE && is_refused("allocate")) return errno = ENOMEM, NULL;
    return __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes) {
    if (bytes >= LARGE && is_refused("allocate")) return errno = ENOMEM, NULL;
    return __libc_realloc(old, bytes);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *given) {
    if (is_refused("thread")) return EAGAIN;
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = dlsym(RTLD_NEXT, "pthread_create");
    return create(thread, attributes, start, given);
}
