/* Relocating it takes long: on the way the loader asks a function which definition to take. */
#include <fcntl.h>
#include <unistd.h>

typedef long answer_function(void);

static long answer(void)
{
    return 42;
}

/* Runs before the library is relocated: it may call nothing. */
__attribute__((used)) static answer_function *choose_slowly(void)
{
    struct {
        long seconds, ns;
    } nap = {0, 200000000};
#if defined(__x86_64__)
    long number = 35; /* nanosleep */
    __asm__ volatile("syscall" : "+a"(number) : "D"(&nap), "S"(0) : "rcx", "r11", "memory");
#elif defined(__aarch64__)
    register long number __asm__("x8") = 101;
    register void *request __asm__("x0") = &nap;
    register long remaining __asm__("x1") = 0;
    __asm__ volatile("svc 0" : "+r"(request) : "r"(number), "r"(remaining) : "memory");
#endif
    return answer;
}

long slow_answer(void) __attribute__((ifunc("choose_slowly")));
answer_function *const slow_answers[] = {slow_answer};

long slow_read(const char *path);
long slow_read(const char *path)
{
    char block[4096];
    long total = 0, got;
    int fd = open(path, O_RDONLY);
    while ((got = read(fd, block, sizeof block)) > 0)
        total += got;
    close(fd);
    return total;
}
