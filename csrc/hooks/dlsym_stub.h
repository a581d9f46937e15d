/* A stub that stands for dlsym: it calls `before` and jumps to what `next` returns, both functions of the including
 * file. It must not call dlsym, which finds its caller by its return address (RTLD_NEXT, namespaces). So the stub
 * leaves the stack as it was. */
#ifndef TFD_DLSYM_STUB_H
#define TFD_DLSYM_STUB_H

#if defined(__x86_64__)
#define TFD_DLSYM_STUB(stub, before, next)                                                                   \
    __asm__(".text\n"                                                                                        \
            ".p2align 4\n"                                                                                   \
            ".globl " #stub "\n"                                                                             \
            ".hidden " #stub "\n"                                                                            \
            ".type " #stub ", @function\n" #stub ":\n"                                                       \
            ".cfi_startproc\n"                                                                               \
            "endbr64\n"                                                                                      \
            "push %rdi\n"                                                                                    \
            ".cfi_adjust_cfa_offset 8\n"                                                                     \
            "push %rsi\n"                                                                                    \
            ".cfi_adjust_cfa_offset 8\n"                                                                     \
            "sub $8, %rsp\n"                                                                                 \
            ".cfi_adjust_cfa_offset 8\n"                                                                     \
            "call " #before "\n"                                                                             \
            "call " #next "\n"                                                                               \
            "add $8, %rsp\n"                                                                                 \
            ".cfi_adjust_cfa_offset -8\n"                                                                    \
            "pop %rsi\n"                                                                                     \
            ".cfi_adjust_cfa_offset -8\n"                                                                    \
            "pop %rdi\n"                                                                                     \
            ".cfi_adjust_cfa_offset -8\n"                                                                    \
            "jmp *%rax\n"                                                                                    \
            ".cfi_endproc\n"                                                                                 \
            ".size " #stub ", . - " #stub "\n")
#elif defined(__aarch64__)
#define TFD_DLSYM_STUB(stub, before, next)                                                                   \
    __asm__(".text\n"                                                                                        \
            ".p2align 4\n"                                                                                   \
            ".globl " #stub "\n"                                                                             \
            ".hidden " #stub "\n"                                                                            \
            ".type " #stub ", %function\n" #stub ":\n"                                                       \
            ".cfi_startproc\n"                                                                               \
            "stp x29, x30, [sp, #-32]!\n"                                                                    \
            ".cfi_adjust_cfa_offset 32\n"                                                                    \
            "stp x0, x1, [sp, #16]\n"                                                                        \
            "bl " #before "\n"                                                                               \
            "bl " #next "\n"                                                                                 \
            "mov x16, x0\n"                                                                                  \
            "ldp x0, x1, [sp, #16]\n"                                                                        \
            "ldp x29, x30, [sp], #32\n"                                                                      \
            ".cfi_adjust_cfa_offset -32\n"                                                                   \
            "br x16\n"                                                                                       \
            ".cfi_endproc\n"                                                                                 \
            ".size " #stub ", . - " #stub "\n")
#endif

#endif
