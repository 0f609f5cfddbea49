// Logarithms of 3 x 3 matrices: what riemdp.spaces._log_fractions.logarithms_3x3 does, operation by
// operation. See docs/proofs/matrix-logarithms.md.

#pragma once

#include "poles.h"

namespace {

// pivots, as shares of the trace, at least
constexpr double LEAST_PIVOT = 0x1p-43;
// by so much T exceeds the condition number, at least
constexpr double EXCESS = 7.0;

// Which fraction a matrix takes, by the product of the traces of it and its inverse.
struct Classes {
    const double *limits, *levels;
    double least, largest;  // traces
    Poles poles;

    // limits, levels, extreme traces; numbers of poles, shifts, weights
    explicit Classes(const View *views)
        : limits(views[0].numbers()), levels(views[1].numbers()), least(views[2].numbers()[0]),
          largest(views[2].numbers()[1]), poles(views + 3) {}

    static bool fit(const View *views) {
        Poles poles(views + 3);
        return poles.fit(views + 3) && views[0].holds(poles.classes)
            && views[1].holds(poles.classes) && views[2].holds(2);
    }
};

// Entries (0, 0), (1, 1), (2, 2), (1, 0), (2, 0), (2, 1).
struct Symmetric3 {
    Lanes a, b, c, d, e, f;
};

inline Symmetric3 read_3x3(const double *from) {
    return {gather(from, 9), gather(from + 4, 9), gather(from + 8, 9),
            gather(from + 3, 9), gather(from + 6, 9), gather(from + 7, 9)};
}

// P X P^T, P lower triangular.
inline Symmetric3 congruent(const double *P, const Symmetric3 &X) {
    double p = P[0], q = P[3], r = P[4], x = P[6], y = P[7], z = P[8];
    // the second and the last row of P X, as far as they are needed
    Lanes left = q * X.a + r * X.d, right = q * X.d + r * X.b;
    Lanes near = x * X.a + y * X.d + z * X.e, far = x * X.d + y * X.b + z * X.f;
    Lanes corner = x * X.e + y * X.f + z * X.c;
    return {p * (p * X.a), q * left + r * right, x * near + y * far + z * corner,
            p * left, p * near, q * near + r * far};
}

// Replace matrices by their logarithms, of those outside by zeros; return which are inside.
inline Mask logarithm(Symmetric3 &matrix, const Classes &classes, Lanes &condition) {
    Lanes a = matrix.a, b = matrix.b, c = matrix.c, d = matrix.d, e = matrix.e, f = matrix.f;
    Lanes aa = b * c - f * f, bb = a * c - e * e, cc = a * b - d * d;
    Lanes dd = e * f - d * c, ee = d * f - e * b, ff = d * e - f * a;
    Lanes trace = (a + b) + c;
    Lanes minors = (aa + bb) + cc;
    Lanes third = c - (e * e + (ff / cc) * ff) / a;
    Lanes det = cc * third;
    Lanes product = trace * minors / det;
    Lanes least = trace * LEAST_PIVOT;
    // what is not a number fails all of them
    Mask inside = (product > 0.0) & (product <= classes.limits[classes.poles.classes - 1]);
    inside &= (a > least) & (third > least) & (cc > least * a);
    inside &= (trace > classes.least) & (trace < classes.largest);
    Mask which = Mask{};
    Lanes level = lanes(classes.levels[0]);
    for (std::ptrdiff_t i = 0; i + 1 < classes.poles.classes; i++) {
        Mask beyond = (product > classes.limits[i]) & inside;
        which -= beyond;
        level = choose(beyond, lanes(classes.levels[i + 1]), level);
    }
    Mask exponent = exponents(trace * level);
    Lanes scale = powers(exponent), shift = (numbers(exponent) - 1022.0) * LOG_2;
    Lanes square = scale * scale;
    trace = trace * scale, minors = minors * square, det = det * square * scale;
    Lanes zeroth = lanes(0.0), first = lanes(0.0), second = lanes(0.0);
    PolesOfLanes(classes.poles, which).each([&](Lanes pole, Lanes weight) {
        Lanes term = weight / (((trace + pole) * pole + minors) * pole + det);
        zeroth = zeroth + term;
        term = term * pole;
        first = first + term;
        second = second + term * pole;
    });
    Lanes beta = first + second, gamma = zeroth + first;
    Lanes alpha = (det * gamma - beta) + ((minors - trace) + (1.0 - det)) * first + shift;
    beta = beta * scale, gamma = gamma * square;
    Lanes zero = lanes(0.0);
    matrix.a = choose(inside, (a * beta - aa * gamma) + alpha, zero);
    matrix.b = choose(inside, (b * beta - bb * gamma) + alpha, zero);
    matrix.c = choose(inside, (c * beta - cc * gamma) + alpha, zero);
    matrix.d = choose(inside, d * beta - dd * gamma, zero);
    matrix.e = choose(inside, e * beta - ee * gamma, zero);
    matrix.f = choose(inside, f * beta - ff * gamma, zero);
    condition = choose(inside, product - EXCESS, zero);
    return inside;
}

// matrices (n, 3, 3); P (3, 3), lower triangular, or (0,): of matrices as seen from elsewhere, P X
// P^T; limits, levels, extremes, counts, shifts, weights: entries (6, n), condition (n,), outside
bool logarithms_3x3(const View *views) {
    std::ptrdiff_t n = views[0].bytes / 72;
    bool seen = views[1].bytes > 0;
    if (!views[0].holds(9 * n) || (seen && !views[1].holds(9)) || !Classes::fit(views + 2)
        || !views[8].holds(6 * n) || !views[9].holds(n) || !views[10].holds(n, 1))
        return false;
    Classes classes(views + 2);
    double last[9 * W];
    double *entries = views[8].numbers(), *conditions = views[9].numbers();
    unsigned char *outside = views[10].as<unsigned char>();
    for (std::ptrdiff_t begin = 0; begin < n; begin += W) {
        int used = n - begin < W ? int(n - begin) : W;
        Symmetric3 found = read_3x3(padded(views[0].numbers() + 9 * begin, 9, used, last));
        if (seen) found = congruent(views[1].numbers(), found);
        Lanes condition;
        Mask inside = logarithm(found, classes, condition);
        const Lanes all[] = {found.a, found.b, found.c, found.d, found.e, found.f};
        for (int i = 0; i < 6; i++) store(entries + i * n + begin, all[i], used);
        store(conditions + begin, condition, used);
        for (int m = 0; m < used; m++) outside[begin + m] = !inside[m];
    }
    return true;
}

}  // namespace
