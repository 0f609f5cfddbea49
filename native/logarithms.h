// Logarithms of k x k matrices, k > 2: what riemdp.spaces._log_lanes.logarithms_kxk does, operation
// by operation. See docs/proofs/matrix-logarithms.md.

#pragma once

#include "poles.h"

namespace {

// by so much the bound of a spectrum is widened
constexpr double WIDER = 1.02;
// Under it the square of a column below the diagonal, of a matrix of trace 1, is as good as zero.
constexpr double NOTHING = 1e-280;

// Lower triangle, row by row.
struct Triangle {
    Lanes *entries;

    static std::ptrdiff_t size(std::ptrdiff_t k) { return k * (k + 1) / 2; }
    // of i >= j
    Lanes &at(std::ptrdiff_t i, std::ptrdiff_t j) const { return entries[size(i) + j]; }
    Lanes of(std::ptrdiff_t i, std::ptrdiff_t j) const { return i < j ? at(j, i) : at(i, j); }

    // Sum of of(i, j) u[i] over i from first to k - 1, in four parts: (i - first) mod 4.
    Lanes product(const Lanes *u, std::ptrdiff_t first, std::ptrdiff_t k, std::ptrdiff_t j) const {
        Lanes part[4] = {};
        std::ptrdiff_t i = first;
        for (; i + 4 <= k; i += 4)
            for (int p = 0; p < 4; p++) part[p] = part[p] + of(i + p, j) * u[i + p];
        for (int p = 0; i + p < k; p++) part[p] = part[p] + of(i + p, j) * u[i + p];
        return (part[0] + part[2]) + (part[1] + part[3]);
    }
};

// Work of W matrices at a time.
struct Rows {
    std::ptrdiff_t k;
    Triangle x, y;
    // the tridiagonal matrix; reflections; of four poles, pivots and minus factors of the row above
    Lanes *diagonal, *beside, *factor, *u, *v, *pivots, *factors;

    static std::ptrdiff_t size(std::ptrdiff_t k) { return 2 * Triangle::size(k) + 13 * k; }
    Rows(std::ptrdiff_t k, Lanes *work)
        : k(k), x{work}, y{work + Triangle::size(k)}, diagonal(work + 2 * Triangle::size(k)),
          beside(diagonal + k), factor(beside + k), u(factor + k), v(u + k), pivots(v + k),
          factors(pivots + 4 * k) {}

    // sum of u[i] v[i] from first to k - 1, in order
    Lanes dot(const Lanes *u, const Lanes *v, std::ptrdiff_t first) const {
        Lanes total = u[first] * v[first];
        for (std::ptrdiff_t i = first + 1; i < k; i++) total = total + u[i] * v[i];
        return total;
    }

    // A <- (I - q u u^T) A (I - q u u^T), u zero before first; v = q A u
    void reflect(const Triangle &A, Lanes q, std::ptrdiff_t first) {
        Lanes part = 0.5 * q * dot(v, u, first);
        for (std::ptrdiff_t i = first; i < k; i++) v[i] = v[i] - part * u[i];
        for (std::ptrdiff_t i = first; i < k; i++)
            for (std::ptrdiff_t j = first; j <= i; j++)
                A.at(i, j) = A.at(i, j) - (u[i] * v[j] + v[i] * u[j]);
    }

    void make_tridiagonal() {
        for (std::ptrdiff_t c = 0; c < k - 2; c++) {
            for (std::ptrdiff_t i = c + 1; i < k; i++) u[i] = x.at(i, c);
            Lanes head = u[c + 1], length = root(dot(u, u, c + 1));
            length = choose(head > 0.0, length, -length);
            Lanes reach = length * (length + head);
            Lanes q = choose(reach > NOTHING, 1.0 / reach, lanes(0.0));
            beside[c] = choose(reach > NOTHING, -length, lanes(0.0));
            factor[c] = q;
            u[c + 1] = x.at(c + 1, c) = head + length;
            for (std::ptrdiff_t j = c + 1; j < k; j++) v[j] = x.product(u, c + 1, k, j) * q;
            reflect(x, q, c + 1);
        }
        beside[k - 2] = x.at(k - 1, k - 2);
        for (std::ptrdiff_t i = 0; i < k; i++) diagonal[i] = x.at(i, i);
    }

    void reflect_back() {
        for (std::ptrdiff_t c = k - 3; c >= 0; c--) {
            Lanes q = factor[c];
            for (std::ptrdiff_t i = c + 1; i < k; i++) u[i] = x.at(i, c);
            for (std::ptrdiff_t j = 0; j < k; j++) v[j] = y.product(u, c + 1, k, j) * q;
            reflect(y, q, c + 1);
            for (std::ptrdiff_t i = c + 1; i < k; i++)
                for (std::ptrdiff_t j = 0; j <= c; j++) y.at(i, j) = y.at(i, j) - u[i] * v[j];
        }
    }

    // bound of the spectrum, by Gershgorin's discs; 1 where there is none
    Lanes above() const {
        Lanes top = diagonal[0] + absolute(beside[0]);
        for (std::ptrdiff_t i = 1; i < k; i++) {
            Lanes reach = absolute(beside[i - 1]);
            if (i < k - 1) reach = reach + absolute(beside[i]);
            reach = diagonal[i] + reach;
            // what is not a number is left out
            top = choose((reach > top) | (top != top), reach, top);
        }
        top = WIDER * top;
        return choose((top > 0.0) & (top < __builtin_inf()), top, lanes(1.0));
    }

    // trace of the inverse; the first class that holds the spectrum, or their number
    Lanes classify(const double *bottoms, std::ptrdiff_t count, Lanes unit, Mask &which) const {
        Lanes pivot = diagonal[0], inverse = 1.0 / pivot, slope = lanes(1.0);
        Mask positive = pivot > 0.0;
        for (std::ptrdiff_t i = 1; i < k; i++) {
            Lanes ratio = beside[i - 1] / pivot;
            pivot = diagonal[i] - beside[i - 1] * ratio;
            positive &= pivot > 0.0;
            slope = 1.0 + ratio * ratio * slope;
            inverse = inverse + slope / pivot;
        }
        which = Mask{} + count;
        for (std::ptrdiff_t c = count - 1; c >= 0; c--) {
            Lanes level = bottoms[c] * unit;
            pivot = diagonal[0] - level;
            Mask holds = positive & (pivot > 0.0);
            for (std::ptrdiff_t i = 1; i < k; i++) {
                pivot = diagonal[i] - level - beside[i - 1] * (beside[i - 1] / pivot);
                holds &= pivot > 0.0;
            }
            which = (holds & (Mask{} + c)) | (which & ~holds);
        }
        return inverse;
    }

    // y = (T - I) sum_j w_j (T + s_j I)^-1
    void add_fractions(const PolesOfLanes &poles) {
        for (std::ptrdiff_t i = 0; i < Triangle::size(k); i++) y.entries[i] = lanes(0.0);
        poles.fours([&](const Lanes *s, const Lanes *w) {
            Lanes pivot[4];
            for (int p = 0; p < 4; p++) {
                pivot[p] = 1.0 / (diagonal[0] + s[p]);
                pivots[p] = w[p] * pivot[p];
            }
            for (std::ptrdiff_t i = 1; i < k; i++)
                for (int p = 0; p < 4; p++) {
                    Lanes ratio = beside[i - 1] * pivot[p];
                    factors[4 * (i - 1) + p] = -ratio;
                    pivot[p] = 1.0 / (diagonal[i] + s[p] - ratio * beside[i - 1]);
                    pivots[4 * i + p] = w[p] * pivot[p];
                }
            for (std::ptrdiff_t i = 4 * (k - 1) - 1; i >= 0; i--)
                pivots[i] = pivots[i] + factors[i] * factors[i] * pivots[i + 4];
            // entries of the inverses, from the diagonal to the left
            for (std::ptrdiff_t i = 0; i < k; i++) {
                Lanes a = pivots[4 * i], b = pivots[4 * i + 1];
                Lanes c = pivots[4 * i + 2], d = pivots[4 * i + 3];
                y.at(i, i) = y.at(i, i) + ((a + c) + (b + d));
                for (std::ptrdiff_t j = i - 1; j >= 0; j--) {
                    const Lanes *by = factors + 4 * j;
                    a = a * by[0], b = b * by[1], c = c * by[2], d = d * by[3];
                    y.at(i, j) = y.at(i, j) + ((a + c) + (b + d));
                }
            }
        });
        for (std::ptrdiff_t i = 0; i < k; i++) {
            Lanes left = lanes(0.0);
            for (std::ptrdiff_t j = 0; j <= i; j++) {
                Lanes here = y.at(i, j), found = (diagonal[j] - 1.0) * here;
                if (j > 0) found = found + beside[j - 1] * left;
                if (j < i) found = found + beside[j] * y.at(i, j + 1);
                else if (i < k - 1) found = found + beside[i] * y.at(i + 1, i);
                y.at(i, j) = found;
                left = here;
            }
        }
    }
};

// What of matrices is in range.
struct Range {
    double least, largest, product;  // traces; most of a trace times that of the inverse
};

// Logarithms of W matrices, which follow each other: in rows.y, but for the shift of the diagonal.
// Returns which are inside.
inline Mask logarithm(
    Rows &rows, const double *matrices, const double *bottoms, const Range &range,
    const Poles &poles, Lanes &shift, Lanes &condition
) {
    std::ptrdiff_t k = rows.k, step = k * k;
    Lanes trace = gather(matrices, step);
    for (std::ptrdiff_t i = 1; i < k; i++) trace = trace + gather(matrices + i * (k + 1), step);
    Mask inside = (trace > range.least) & (trace < range.largest);
    Mask exponent = exponents(choose(inside, trace, lanes(1.0)));
    Lanes scale = 2.0 * powers(exponent);
    for (std::ptrdiff_t i = 0; i < k; i++)
        for (std::ptrdiff_t j = 0; j <= i; j++)
            rows.x.at(i, j) = gather(matrices + i * k + j, step) * scale;
    rows.make_tridiagonal();
    Mask more = exponents(rows.above()), which;
    Lanes per = 2.0 * powers(more), inverse = rows.classify(bottoms, poles.classes, 1.0 / per, which);
    Lanes product = trace * scale * inverse;
    inside &= (which < poles.classes) & (product <= range.product);
    which &= inside;
    Lanes base = root(product) - double(k - 2), bound = base * base - 2.0;
    condition = choose(inside, choose(bound > 1.0, bound, lanes(1.0)), lanes(0.0));
    for (std::ptrdiff_t i = 0; i < k; i++) rows.diagonal[i] = rows.diagonal[i] * per;
    for (std::ptrdiff_t i = 0; i < k - 1; i++) rows.beside[i] = rows.beside[i] * per;
    shift = (numbers(exponent + more) - 2046.0) * LOG_2;
    rows.add_fractions(PolesOfLanes(poles, which));
    rows.reflect_back();
    return inside;
}

// matrices (n, k, k), bottoms, range (3,), numbers of poles, shifts, weights; work (any size that is
// enough), entries (k (k + 1) / 2, n), condition (n,), outside
bool logarithms(const View *views) {
    Poles poles(views + 3);
    std::ptrdiff_t n = views[9].bytes, size = n ? views[7].bytes / 8 / n : 6, k = 0;
    while (Triangle::size(k) < size) k++;
    std::ptrdiff_t room = Rows::size(k) + k * k + 1;
    if (k < 3 || !views[0].holds(n * k * k) || !poles.fit(views + 3) || poles.width % 4
        || !views[1].holds(poles.classes) || !views[2].holds(3)
        || views[6].bytes < room * std::ptrdiff_t(sizeof(Lanes))
        || !views[7].holds(n * Triangle::size(k)) || !views[8].holds(n))
        return false;
    Lanes *work = aligned(views[6]);
    Rows rows(k, work + k * k);
    const double *range = views[2].numbers();
    double *entries = views[7].numbers(), *conditions = views[8].numbers();
    unsigned char *outside = views[9].as<unsigned char>();
    for (std::ptrdiff_t begin = 0; begin < n; begin += W) {
        int used = n - begin < W ? int(n - begin) : W;
        const double *matrices = views[0].numbers() + begin * k * k;
        matrices = padded(matrices, k * k, used, reinterpret_cast<double *>(work));
        Lanes shift, condition;
        Mask inside = logarithm(rows, matrices, views[1].numbers(), {range[0], range[1], range[2]},
                                poles, shift, condition);
        store(conditions + begin, condition, used);
        for (int m = 0; m < used; m++) outside[begin + m] = !inside[m];
        double *to = entries + begin;
        for (std::ptrdiff_t i = 0; i < k; i++, to += n)
            store(to, choose(inside, rows.y.at(i, i) + shift, lanes(0.0)), used);
        for (std::ptrdiff_t j = 0; j < k; j++)
            for (std::ptrdiff_t i = j + 1; i < k; i++, to += n)
                store(to, choose(inside, rows.y.at(i, j), lanes(0.0)), used);
    }
    return true;
}

}  // namespace
