// A few numbers side by side, one to a lane of the processor: of W records, none of which sees
// another. Included by width.cpp, once for each width; all names are local to that file, or the
// linker would choose one copy for all widths.
//
// Every operation rounds as IEEE 754 says, and none is contracted or reordered: NumPy has the same
// bits. No function of libm, which would have its own.

#pragma once

#include <cfloat>
#include <cstddef>
#include <cstdint>
#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "kernel.h"

#if FLT_EVAL_METHOD != 0
#error "numbers must round to float64 after each operation"
#endif

namespace {

constexpr int W = LANES;

typedef double Lanes __attribute__((vector_size(8 * W)));
// what comparisons of lanes give, -1 or 0, and bits of numbers
typedef decltype(Lanes() < Lanes()) Mask;

inline Lanes lanes(double value) { return Lanes{} + value; }

inline Lanes load(const double *from) {
    Lanes found;
    std::memcpy(&found, from, sizeof found);
    return found;
}

inline void store(double *to, Lanes values) { std::memcpy(to, &values, sizeof values); }

// the first few
inline void store(double *to, Lanes values, int used) {
    if (used == W) return store(to, values);
    for (int m = 0; m < used; m++) to[m] = values[m];
}

// every so manieth number
inline Lanes gather(const double *from, std::ptrdiff_t step) {
    Lanes found;
    for (int m = 0; m < W; m++) found[m] = from[m * step];
    return found;
}

inline Mask bits(Lanes values) { return (Mask)values; }

inline Lanes choose(Mask test, Lanes yes, Lanes no) {
    return (Lanes)((bits(yes) & test) | (bits(no) & ~test));
}

inline Lanes absolute(Lanes values) { return (Lanes)(bits(values) & INT64_MAX); }

inline Lanes root(Lanes values) {
#if defined(__AVX512F__) && LANES == 8
    return (Lanes)_mm512_sqrt_pd((__m512d)values);
#elif defined(__AVX__) && LANES == 4
    return (Lanes)_mm256_sqrt_pd((__m256d)values);
#elif defined(__SSE2__) && LANES == 2
    return (Lanes)_mm_sqrt_pd((__m128d)values);
#else
    Lanes found;
    for (int m = 0; m < W; m++) found[m] = __builtin_sqrt(values[m]);
    return found;
#endif
}

// e of numbers in [2^(e - 1), 2^e), positive and normal, plus 1022
inline Mask exponents(Lanes values) { return bits(values) >> 52; }

// of whole numbers from 0 to 2^51
inline Lanes numbers(Mask whole) { return (Lanes)(whole | bits(lanes(0x1p52))) - 0x1p52; }

// 2^(1022 - e), e + 1022 the exponents
inline Lanes powers(Mask exponents) { return (Lanes)((2045 - exponents) << 52); }

// Where lanes begin in memory to work in, which has room for one more.
inline Lanes *aligned(const View &work) {
    auto start = reinterpret_cast<std::uintptr_t>(work.start) + sizeof(Lanes) - 1;
    return reinterpret_cast<Lanes *>(start / sizeof(Lanes) * sizeof(Lanes));
}

// Records from one on, and copies of the last where there are less than W: in memory of their own.
inline const double *padded(const double *from, std::ptrdiff_t size, int used, double *memory) {
    if (used == W) return from;
    for (int m = 0; m < W; m++)
        std::memcpy(memory + m * size, from + (m < used ? m : used - 1) * size, 8 * size);
    return memory;
}

}  // namespace
