/* Preloaded into a process whose clock is to be wrong: what the time of day is said to be is moved
   by the seconds that stand, as eight bytes, in the file CELADON_CLOCK. Clocks that only count go
   on as they are. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int64_t moved(void) {
    static volatile int64_t *seconds = NULL;
    if (!seconds) {
        const char *name = getenv("CELADON_CLOCK");
        int file = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
        if (file < 0) return 0;
        void *found = mmap(NULL, 8, PROT_READ, MAP_SHARED, file, 0);
        close(file);
        if (found == MAP_FAILED) return 0;
        seconds = found;
    }
    return *seconds;
}

int clock_gettime(clockid_t clock, struct timespec *at) {
    static int (*real)(clockid_t, struct timespec *) = NULL;
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, at);
    if (!result && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        at->tv_sec += moved();
    return result;
}
int gettimeofday(struct timeval *at, void *zone) {
    struct timespec now;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &now)) return -1;
    at->tv_sec = now.tv_sec;
    at->tv_usec = now.tv_nsec / 1000;
    return 0;
}
time_t time(time_t *at) {
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now)) return -1;
    if (at) *at = now.tv_sec;
    return now.tv_sec;
}
