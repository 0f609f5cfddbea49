// Which k x k matrices have positive pivots: riemdp.spaces._symmetric asks for those that are plain.

#pragma once

#include "lanes.h"

namespace {

// matrices (n, k, k), what diagonals are multiplied by (1,); work (any size that is enough),
// definite
bool definite(const View *views) {
    std::ptrdiff_t n = views[3].bytes, size = n ? views[0].bytes / 8 / n : 0, k = 0;
    while (k * k < size) k++;
    std::ptrdiff_t room = 2 * k * k + 1;
    if (!views[0].holds(n * k * k) || !views[1].holds(1)
        || views[2].bytes < room * std::ptrdiff_t(sizeof(Lanes)))
        return false;
    Lanes *last = aligned(views[2]), *x = last + k * k;
    double share = views[1].numbers()[0];
    for (std::ptrdiff_t begin = 0; begin < n; begin += W) {
        int used = n - begin < W ? int(n - begin) : W;
        const double *matrices = views[0].numbers() + begin * k * k;
        matrices = padded(matrices, k * k, used, reinterpret_cast<double *>(last));
        for (std::ptrdiff_t i = 0; i < k; i++) {
            for (std::ptrdiff_t j = 0; j < i; j++)
                x[i * k + j] = gather(matrices + i * k + j, k * k);
            x[i * k + i] = gather(matrices + i * k + i, k * k) * share;
        }
        Mask positive = ~Mask{};
        for (std::ptrdiff_t c = 0; c < k; c++) {
            Lanes pivot = x[c * k + c], inverse = 1.0 / pivot;
            positive &= pivot > 0.0;
            for (std::ptrdiff_t i = c + 1; i < k; i++) {
                Lanes factor = x[i * k + c] * inverse;
                for (std::ptrdiff_t j = c + 1; j <= i; j++)
                    x[i * k + j] = x[i * k + j] - factor * x[j * k + c];
            }
        }
        unsigned char *found = views[3].as<unsigned char>() + begin;
        for (int m = 0; m < used; m++) found[m] = positive[m] != 0;
    }
    return true;
}

}  // namespace
