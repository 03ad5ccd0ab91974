// Included in front of every translation unit: Verilator's runtime prints and stops through these.
#ifndef GPURF_HOOKS_H
#define GPURF_HOOKS_H
#ifdef __cplusplus
extern "C" {
#endif
int gpurf_printf(const char* format, ...) __attribute__((format(printf, 1, 2)));
#ifdef __cplusplus
}
#endif
#define VL_PRINTF gpurf_printf
#define VL_USER_STOP
#define VL_USER_FINISH
#define VL_USER_FATAL

#ifdef __cplusplus
#include "verilated.h"

#if VERILATOR_VERSION_INTEGER < 5018000
// The high words of a wide constant: `words` are the words from bit `lsb` on, highest first, and all above are zero. Before version 5.018
// Verilator's own functions count the words above from the wrong end, and clear as many behind the variable (its pull request 4556).
template <typename... Words>
static inline WDataOutP gpurf_high_words(int obits, int lsb, WDataOutP base, Words... words) {
    const EData highest_first[] = {static_cast<EData>(words)...};
    int word = VL_WORDS_I(lsb);
    for (int given = sizeof...(words); given-- > 0; ++word) base[word] = highest_first[given];
    for (; word < VL_WORDS_I(obits); ++word) base[word] = 0;
    return base;
}
#define VL_CONSTHI_W_1X gpurf_high_words
#define VL_CONSTHI_W_2X gpurf_high_words
#define VL_CONSTHI_W_3X gpurf_high_words
#define VL_CONSTHI_W_4X gpurf_high_words
#define VL_CONSTHI_W_5X gpurf_high_words
#define VL_CONSTHI_W_6X gpurf_high_words
#define VL_CONSTHI_W_7X gpurf_high_words
#define VL_CONSTHI_W_8X gpurf_high_words
#endif
#endif
#endif
