/* Lets the module run on older Linux systems than the one it is compiled on. glibc 2.29 and 2.33 gave these functions new
 * names, and a module that asks for them loads nowhere else; here they go to the ones before, which every glibc still has. The
 * results are the same: the new exp, log and pow only report errors in another way. Sanitizers stand in for the new names only.
 */
#if defined(__linux__)
#include <features.h>
#endif

#if defined(__GLIBC__) && (defined(__x86_64__) || defined(__aarch64__)) && !defined(__SANITIZE_ADDRESS__)
#if __GLIBC_PREREQ(2, 33)

#include <sys/stat.h>

#if defined(__x86_64__)
#define FIRST "GLIBC_2.2.5"
#define STAT_VERSION 1
#else
#define FIRST "GLIBC_2.17"
#define STAT_VERSION 0
#endif
#define OLD(name) __asm__(".symver old_" #name "," #name "@" FIRST)

int old___xstat(int version, const char *path, struct stat *facts);
int old___lxstat(int version, const char *path, struct stat *facts);
int old___fxstat(int version, int fd, struct stat *facts);
double old_exp(double x);
double old_log(double x);
double old_pow(double x, double y);
OLD(__xstat);
OLD(__lxstat);
OLD(__fxstat);
OLD(exp);
OLD(log);
OLD(pow);

int stat(const char *path, struct stat *facts)
{
    return old___xstat(STAT_VERSION, path, facts);
}

int lstat(const char *path, struct stat *facts)
{
    return old___lxstat(STAT_VERSION, path, facts);
}

int fstat(int fd, struct stat *facts)
{
    return old___fxstat(STAT_VERSION, fd, facts);
}

double exp(double x);
double log(double x);
double pow(double x, double y);

double exp(double x)
{
    return old_exp(x);
}

double log(double x)
{
    return old_log(x);
}

double pow(double x, double y)
{
    return old_pow(x, y);
}

#endif
#endif
