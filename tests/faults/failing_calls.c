/* Preloaded into a process that writes: calls that write below one folder are counted, the n-th
   fails once it is told so (fail_call), and all of them are recorded (CELADON_RECORD), so that
   what a loss of power leaves can be made of them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static long countdown = 0, counted = 0;
static int error = 0, half = 0, fired = 0, record = -1;

void fail_call(long number, int code, int only_half) {
    countdown = number; error = code; half = only_half; fired = 0; counted = 0;
}
int call_failed(void) { return fired; }
long calls(void) { return counted; }

static void note(char kind, const char *path, uint64_t offset, const void *data, uint32_t length) {
    if (record == -1) {
        const char *name = getenv("CELADON_RECORD");
        record = name ? syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_APPEND, 0600) : -2;
    }
    if (record < 0) return;
    char head[PATH_MAX + 64];
    uint16_t size = strlen(path);
    head[0] = kind;
    memcpy(head + 1, &size, 2); memcpy(head + 3, &offset, 8); memcpy(head + 11, &length, 4);
    memcpy(head + 15, path, size);
    syscall(SYS_write, record, head, 15 + size);
    if (length && data) syscall(SYS_write, record, data, length);
}
void note_acknowledged(const char *text) { note('A', text, 0, NULL, 0); }

static int watched_path(const char *path) {
    const char *folder = getenv("CELADON_FOLDER");
    return folder && strncmp(path, folder, strlen(folder)) == 0;
}
static int watched(int file, char *path) {
    char link[40];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = readlink(link, path, PATH_MAX - 1);
    if (size <= 0) return 0;
    path[size] = 0;
    return watched_path(path);
}
/* 0: go on; else the code of the error. */
static int fails(void) {
    counted++;
    if (countdown <= 0 || --countdown) return 0;
    fired = 1;
    return error;
}
#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static ssize_t written(int file, const void *data, size_t length, off64_t offset) {
    char path[PATH_MAX];
    int code = 0;
    if (watched(file, path)) {
        code = fails();
        if (code && half && length > 1) {  /* half of it, and the rest fails */
            ssize_t done = syscall(SYS_pwrite64, file, data, length / 2, offset);
            if (done > 0) note('W', path, offset, data, done);
            fired = 0; countdown = 1; half = 0;
            return done;
        }
        if (code) { errno = code; return -1; }
    } else path[0] = 0;
    ssize_t done = syscall(SYS_pwrite64, file, data, length, offset);
    if (path[0] && done > 0) note('W', path, offset, data, done);
    return done;
}
ssize_t pwrite64(int file, const void *data, size_t length, off64_t offset) { return written(file, data, length, offset); }
ssize_t pwrite(int file, const void *data, size_t length, off_t offset) { return written(file, data, length, offset); }

#define SYNC(name) \
int name(int file) { \
    char path[PATH_MAX]; \
    REAL(name); \
    if (!watched(file, path)) return real(file); \
    int code = fails(); \
    if (code) { note('X', path, 0, NULL, 0); errno = code; return -1; } \
    note('S', path, 0, NULL, 0); \
    return 0; \
}
SYNC(fsync)
SYNC(fdatasync)

#define TRUNCATE(name, type) \
int name(int file, type size) { \
    char path[PATH_MAX]; \
    REAL(name); \
    if (watched(file, path)) { \
        int code = fails(); \
        if (code) { errno = code; return -1; } \
        note('T', path, size, NULL, 0); \
    } \
    return real(file, size); \
}
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

#define FALLOCATE(name, type) \
int name(int file, type offset, type size) { \
    char path[PATH_MAX]; \
    REAL(name); \
    if (watched(file, path)) { int code = fails(); if (code) return code; } \
    return real(file, offset, size); \
}
FALLOCATE(posix_fallocate, off_t)
FALLOCATE(posix_fallocate64, off64_t)

int unlink(const char *path) {
    REAL(unlink);
    if (watched_path(path)) {
        int code = fails();
        if (code) { errno = code; return -1; }
        note('U', path, 0, NULL, 0);
    }
    return real(path);
}
