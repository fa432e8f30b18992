/* Run an exported network on a Cortex-M without a library.
 *
 * With -DREPORT, write the stack in bytes and the number of instructions of a step, and the result
 * of the self-test, to the debugger by semihosting, and stop. In QEMU with -icount shift=0, time is
 * proportional to the number of instructions, and a loop of a known number of them is the unit.
 */
#include <stdint.h>

#include "network.h"

static network_state state;

#ifdef REPORT
enum { WRITE = 4, EXIT = 0x18, STEPS = 100, LOOPS = 100000, ROOM = 256, UNUSED = 0x5AA55AA5 };

static volatile uint32_t *const timer = (volatile uint32_t *)0xE000E010; /* SysTick */

static void call_debugger(uint32_t operation, const void *argument)
{
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
}

/* Return the ticks since the last call. */
static uint32_t elapsed(void)
{
    uint32_t ticks = 0xFFFFFF - timer[2];
    timer[1] = 0xFFFFFF; /* counts down from here */
    timer[2] = 0;
    timer[0] = 5;
    return ticks;
}

static void print(uint32_t number)
{
    char text[12];
    int i = 10;
    text[10] = '\n';
    text[11] = '\0';
    do {
        text[--i] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    call_debugger(WRITE, text + i);
}

/* Return the bytes below the stack pointer that a step changes. */
static uint32_t stack_of_step(network_real *y)
{
    volatile uint32_t *top;
    int used = ROOM;
    __asm__ volatile("mov %0, sp" : "=r"(top));
    for (int i = 1; i <= ROOM; i++) {
        top[-i] = UNUSED;
    }
    network_step(&state, y, y);
    while (used > 0 && top[-used] == UNUSED) {
        used--;
    }
    return 4 * (uint32_t)used;
}

static void report(void)
{
    network_real y[network_outputs] = {1};
    uint32_t count = LOOPS, unit, ticks;
    print(stack_of_step(y));
    elapsed();
    __asm__ volatile("1: sub %0, #1\n cmp %0, #0\n bne 1b" : "+l"(count) : : "cc");
    unit = elapsed();
    for (int t = 0; t < STEPS; t++) {
        network_step(&state, y, y);
    }
    ticks = elapsed();
    print((uint32_t)((uint64_t)3 * LOOPS * ticks / unit / STEPS));
    print(network_selftest() != 0);
    call_debugger(EXIT, (const void *)0x20026);
}
#endif

__attribute__((noinline)) static void run(void)
{
    network_real y[network_outputs] = {1};
    network_init(&state);
#ifdef REPORT
    report();
#endif
    for (;;) {
        network_step(&state, y, y); /* the output in place of a reading */
    }
}

static void reset(void)
{
#ifdef __ARM_FP
    *(volatile uint32_t *)0xE000ED88 |= 0xFu << 20; /* switch the FPU on */
#endif
    run();
}

__attribute__((section(".vectors"), used)) static const void *const vectors[] = {
    (const void *)0x20004000, /* the end of the stack, 16 kB of RAM */
    (const void *)reset,
};
