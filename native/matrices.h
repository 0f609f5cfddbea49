// Products and exponentials of matrices: what riemdp.spaces._matrix_lanes does, operation by
// operation. Memory is (k, k, n), the records along the last axis.

#pragma once

#include "lanes.h"

namespace {

// k, where it is known beforehand K
template <int K>
struct Size {
    int k;
    operator int() const { return K ? K : k; }
};

// Rows i to i + R - 1, columns j to j + C - 1 of a product; each sum begins with the first column
// on the left. Entry (i, j) of what is on the right is right[i * down + j * across].
template <int R, int C, int K, class Left>
inline void block(Size<K> k, const Left *left, const Lanes *right, int down, int across, int i,
                  int j, Lanes (&sums)[R][C]) {
    for (int r = 0; r < R; r++)
        for (int c = 0; c < C; c++) sums[r][c] = left[(i + r) * k] * right[(j + c) * across];
    for (int l = 1; l < k; l++)
        for (int r = 0; r < R; r++)
            for (int c = 0; c < C; c++)
                sums[r][c] = sums[r][c] + left[(i + r) * k + l] * right[l * down + (j + c) * across];
}

template <int R, int C, int K, class Left>
inline void put(Size<K> k, const Left *left, const Lanes *right, int down, int across, int i, int j,
                bool half, Lanes *found) {
    Lanes sums[R][C];
    block<R, C>(k, left, right, down, across, i, j, sums);
    for (int r = 0; r < R; r++)
        for (int c = 0; c < C; c++) {
            if (half && j + c > i + r) continue;
            found[(i + r) * k + j + c] = sums[r][c];
            if (half) found[(j + c) * k + i + r] = sums[r][c];
        }
}

// Half: what is below the diagonal, and again above it.
template <int K, class Left>
inline void multiply(Size<K> k, const Left *left, const Lanes *right, bool turned, bool half,
                     Lanes *found) {
    int down = turned ? 1 : int(k), across = turned ? int(k) : 1;
    int i = 0;
    for (; i + 2 <= k; i += 2) {
        int j = 0, end = half ? i + 2 : int(k);
        for (; j + 4 <= end; j += 4) put<2, 4>(k, left, right, down, across, i, j, half, found);
        for (; j < end; j++) put<2, 1>(k, left, right, down, across, i, j, half, found);
    }
    for (; i < k; i++) {
        int j = 0, end = half ? i + 1 : int(k);
        for (; j + 4 <= end; j += 4) put<1, 4>(k, left, right, down, across, i, j, half, found);
        for (; j < end; j++) put<1, 1>(k, left, right, down, across, i, j, half, found);
    }
}

template <int K>
inline void add(Size<K> k, Lanes *matrix, double value) {
    for (int i = 0; i < k; i++) matrix[i * k + i] = matrix[i * k + i] + value;
}

// Squares of Frobenius norms: columns are added first, and then along the row.
template <int K>
inline Lanes squares(Size<K> k, const Lanes *matrix) {
    Lanes found = lanes(0.0);
    for (int j = 0; j < k; j++) {
        Lanes column = matrix[j] * matrix[j];
        for (int i = 1; i < k; i++) column = column + matrix[i * k + j] * matrix[i * k + j];
        found = j ? found + column : column;
    }
    return found;
}

// Replace a matrix by its exponential, in memory for four more.
template <int K>
inline void exponential(Size<K> k, const double *taylor, double scale, std::int64_t steps,
                        Lanes *found, Lanes *memory) {
    int size = k * k;
    Lanes *first = memory, *second = first + size, *third = second + size, *more = third + size;
    for (int i = 0; i < size; i++) first[i] = found[i] * scale;
    multiply(k, first, first, false, true, second);
    multiply(k, second, first, false, true, third);
    for (int i = 0; i < size; i++) found[i] = taylor[12] * third[i];
    for (int t = 9; t >= 0; t -= 3) {
        if (t < 9) {
            multiply(k, third, found, false, true, more);
            for (int i = 0; i < size; i++) found[i] = more[i];
        }
        for (int i = 0; i < size; i++)
            found[i] = found[i] + (taylor[t + 2] * second[i] + taylor[t + 1] * first[i]);
        add(k, found, taylor[t]);
    }
    for (std::int64_t step = 0; step < steps; step++) {
        multiply(k, found, found, false, true, more);
        for (int i = 0; i < size; i++) found[i] = more[i];
    }
}

inline void load(const double *from, std::ptrdiff_t n, int size, int used, Lanes *to) {
    for (int i = 0; i < size; i++) {
        if (used == W) {
            to[i] = load(from + i * n);
            continue;
        }
        to[i] = lanes(0.0);
        for (int m = 0; m < used; m++) to[i][m] = from[i * n + m];
    }
}

// matrices that follow each other
inline void scatter(const Lanes *from, double *to, int size, int used) {
    for (int m = 0; m < used; m++)
        for (int i = 0; i < size; i++) to[m * size + i] = from[i][m];
}

constexpr int LARGEST = 1024;  // k

constexpr int MATRICES = 5;  // that a kernel works in

// Memory of a kernel: of its own for small matrices, or what is handed in.
template <int K>
struct Memory {
    Lanes own[K ? K * K * MATRICES : 1];
    Lanes *start;
    explicit Memory(const View &given)
        : start(K ? own : reinterpret_cast<Lanes *>((std::uintptr_t(given.start) + 63) / 64 * 64)) {}
};

// Views of a kernel: k and other numbers; coefficients of the series; matrices (k, k, n), of which
// the second may be one for all (k, k); memory, and what is found.
struct Given {
    const double *numbers, *taylor;
    std::ptrdiff_t k, n;

    bool take(const View *views, int others, int matrices, bool shared) {
        numbers = views[0].numbers(), taylor = views[1].numbers();
        if (!views[0].holds(1 + others) || !views[1].holds(13)) return false;
        if (!(numbers[0] >= 1.0 && numbers[0] <= LARGEST)) return false;
        k = std::ptrdiff_t(numbers[0]);
        n = views[2].bytes / 8 / (k * k);
        for (int i = 0; i < matrices; i++)
            if (!views[2 + i].holds(k * k * (shared && i == 1 ? 1 : n))) return false;
        return views[2 + matrices].bytes >= 8 * 8 * k * k * MATRICES + 64;
    }
};

template <int K>
void exponentials_of(const View *views, const Given &given, Size<K> k) {
    Memory<K> memory(views[3]);
    double *found = views[4].numbers();
    std::ptrdiff_t n = given.n;
    int size = k * k;
    for (std::ptrdiff_t begin = 0; begin < n; begin += W) {
        int used = n - begin < W ? int(n - begin) : W;
        Lanes *matrix = memory.start;
        load(views[2].numbers() + begin, n, size, used, matrix);
        std::int64_t steps = std::int64_t(given.numbers[1]);
        exponential(k, given.taylor, given.numbers[2], steps, matrix, matrix + size);
        for (int i = 0; i < size; i++) store(found + i * n + begin, matrix[i], used);
    }
}

// k, squarings, what matrices are multiplied by; coefficients; matrices: memory, exponentials
bool exponentials(const View *views) {
    Given given;
    if (!given.take(views, 2, 1, false) || !views[4].holds(given.n * given.k * given.k)) return false;
    if (!(given.numbers[1] >= 0.0 && given.numbers[1] <= 64.0)) return false;
    if (given.k == 3)
        exponentials_of(views, given, Size<3>{3});
    else
        exponentials_of(views, given, Size<0>{int(given.k)});
    return true;
}

template <int K>
void grams_of(const View *views, const Given &given, Size<K> k) {
    Memory<K> memory(views[4]);
    double *found = views[5].numbers();
    std::ptrdiff_t n = given.n;
    int size = k * k;
    for (std::ptrdiff_t begin = 0; begin < n; begin += W) {
        int used = n - begin < W ? int(n - begin) : W;
        Lanes *root = memory.start, *factor = root + size, *gram = factor + size;
        load(views[2].numbers() + begin, n, size, used, root);
        multiply(k, views[3].numbers(), root, false, false, factor);
        multiply(k, factor, factor, true, true, gram);
        scatter(gram, found + begin * size, size, used);
    }
}

// k; coefficients; R, W (k, k): memory, W R R^T W^T (n, k, k)
bool grams(const View *views) {
    Given given;
    if (!given.take(views, 0, 2, true) || !views[5].holds(given.n * given.k * given.k)) return false;
    if (given.k == 3)
        grams_of(views, given, Size<3>{3});
    else
        grams_of(views, given, Size<0>{int(given.k)});
    return true;
}

template <int K>
void congruent_of(const View *views, const Given &given, Size<K> k) {
    Memory<K> memory(views[4]);
    double *found = views[5].numbers();
    std::ptrdiff_t n = given.n;
    int size = k * k;
    Lanes *matrix = memory.start, *half = matrix + size, *whole = half + size, *turned = whole + size;
    for (int i = 0; i < size; i++) turned[i] = lanes(views[3].numbers()[i]);
    for (std::ptrdiff_t begin = 0; begin < n; begin += W) {
        int used = n - begin < W ? int(n - begin) : W;
        for (int i = 0; i < size; i++)
            for (int m = 0; m < W; m++)
                matrix[i][m] = views[2].numbers()[(begin + (m < used ? m : 0)) * size + i];
        multiply(k, views[3].numbers(), matrix, false, false, half);
        multiply(k, half, turned, true, true, whole);
        scatter(whole, found + begin * size, size, used);
    }
}

// k; coefficients; X (n, k, k), P (k, k): memory, P X P^T (n, k, k)
bool congruent(const View *views) {
    Given given;
    if (!given.take(views, 0, 2, true) || !views[5].holds(given.n * given.k * given.k)) return false;
    if (given.k == 3)
        congruent_of(views, given, Size<3>{3});
    else
        congruent_of(views, given, Size<0>{int(given.k)});
    return true;
}

template <int K>
void defects_of(const View *views, const Given &given, Size<K> k) {
    Memory<K> memory(views[5]);
    double *found = views[6].numbers();
    std::ptrdiff_t n = given.n;
    int size = k * k;
    for (std::ptrdiff_t begin = 0; begin < n; begin += W) {
        int used = n - begin < W ? int(n - begin) : W;
        Lanes *root = memory.start, *factor = root + size, *other = factor + size;
        Lanes *rest = other + size;
        load(views[2].numbers() + begin, n, size, used, root);
        load(views[4].numbers() + begin, n, size, used, other);
        multiply(k, views[3].numbers(), root, false, false, factor);
        multiply(k, other, factor, false, false, rest);
        multiply(k, rest, rest, true, true, root);
        add(k, root, -1.0);
        store(found + begin, squares(k, root), used);
    }
}

// k; coefficients; R, W (k, k), F: memory, |Y Y^T - 1|^2 (n,), Y = F W R
bool defects(const View *views) {
    Given given;
    if (!given.take(views, 0, 3, true) || !views[6].holds(given.n)) return false;
    if (given.k == 3)
        defects_of(views, given, Size<3>{3});
    else
        defects_of(views, given, Size<0>{int(given.k)});
    return true;
}

}  // namespace
