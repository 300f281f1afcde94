/*
 * Shows the AMX tiles that a virtual machine hides, for measurements: cc -shared -fPIC tile-leaf.c -o tile-leaf.so, then
 * LD_PRELOAD=./tile-leaf.so PROGRAM.
 *
 * Some virtual machines pass AMX through, flag and instructions, but end their CPUID leaves below 0x1D, which describes how
 * large the tiles are; oneDNN then believes in tiles of no size, and it, and PyTorch with it, dies of its first AMX
 * instruction. Linux can make CPUID fault; the handler here carries it out and fills in leaves 0x1D and 0x1E as every CPU with
 * AMX has had them so far: eight tiles of 16 rows by 64 bytes. Threads inherit the faulting, a program started by exec does
 * not.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

enum { ARCH_SET_CPUID = 0x1012, LAST_LEAF = 0x1E };

struct answer {
    uint32_t a, b, c, d;
};

static struct sigaction before;

/* No errno and no libc: a handler may interrupt anything. */
static long allow_cpuid(long allowed)
{
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"((long)SYS_arch_prctl), "D"((long)ARCH_SET_CPUID), "S"(allowed)
                     : "rcx", "r11", "memory");
    return result;
}

static struct answer ask(uint32_t leaf, uint32_t part)
{
    struct answer answer = {leaf, 0, part, 0};
    (void)allow_cpuid(1);
    __asm__ volatile("cpuid" : "+a"(answer.a), "=b"(answer.b), "+c"(answer.c), "=d"(answer.d));
    (void)allow_cpuid(0);
    return answer;
}

static struct answer completed(uint32_t leaf, uint32_t part)
{
    static const struct answer palettes = {.a = 1}, tiles = {.a = 0x04002000, .b = 0x00080040, .c = 16},
                               products = {.b = 0x4010}, nothing = {0};
    if (leaf == 0x1D)
        return part == 0 ? palettes : part == 1 ? tiles : nothing;
    if (leaf == 0x1E)
        return part == 0 ? products : nothing;
    struct answer answer = ask(leaf, part);
    if (leaf == 0 && answer.a < LAST_LEAF)
        answer.a = LAST_LEAF;
    return answer;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    static const unsigned char cpuid[] = {0x0F, 0xA2};
    (void)number;
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    if (info->si_code != SI_KERNEL || memcmp((const void *)registers[REG_RIP], cpuid, sizeof cpuid) != 0) {
        (void)sigaction(SIGSEGV, &before, NULL); /* a real fault: it comes again at once */
        return;
    }
    struct answer answer = completed((uint32_t)registers[REG_RAX], (uint32_t)registers[REG_RCX]);
    registers[REG_RAX] = answer.a;
    registers[REG_RBX] = answer.b;
    registers[REG_RCX] = answer.c;
    registers[REG_RDX] = answer.d;
    registers[REG_RIP] += (greg_t)sizeof cpuid;
}

__attribute__((constructor)) static void start(void)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_NODEFER};
    action.sa_sigaction = on_fault;
    if (sigaction(SIGSEGV, &action, &before) != 0 || allow_cpuid(0) != 0)
        fputs("tile-leaf: this kernel or CPU cannot make CPUID fault; nothing is shown\n", stderr);
}
