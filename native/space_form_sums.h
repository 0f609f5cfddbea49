// What records add to sums on spheres and hyperbolic spaces: what
// riemdp.statistics.curved._space_form_sums.SpaceFormSums does, operation by operation. See
// docs/proofs/certified-means.md, "Sums in float64".

#pragma once

#include "lanes.h"

namespace {

// coordinates of a record that stay in registers or on the stack
constexpr int MOST_COORDINATES = 64;

// Horner's rule, from the highest power.
inline Lanes polynomial(const View &coefficients, Lanes x) {
    const double *each = coefficients.numbers();
    std::ptrdiff_t last = coefficients.bytes / 8 - 1;
    Lanes value = each[0] * x;
    for (std::ptrdiff_t i = 1; i < last; i++) value = (value + each[i]) * x;
    return value + each[last];
}

// What there is of the point and the space.
struct Place {
    double quarter, curvature, square;  // minus a quarter of the curvature; largest square
    double sine, cosine, level;         // of half the point's angle, and of the angle
    double first, last;                 // one over the grids
    double halvings;                    // after the first
};

// records (n, d); vector (d,); the numbers of a place; both series: integers (d + 1, n), whether
// all records are inside (1,)
bool space_form_sums(const View *views) {
    std::ptrdiff_t d = views[1].bytes / 8, n = d > 0 ? views[0].bytes / (8 * d) : 0;
    if (d < 1 || d > MOST_COORDINATES || !views[0].holds(n * d) || !views[1].holds(d)
        || !views[2].holds(9) || views[3].bytes < 16 || views[4].bytes < 16
        || !views[5].holds((d + 1) * n) || !views[6].holds(1, 1))
        return false;
    const double *vector = views[1].numbers();
    Place at;
    std::memcpy(&at, views[2].numbers(), sizeof at);
    std::int64_t *integers = views[5].as<std::int64_t>();
    const Lanes whole = lanes(0x1.8p52);
    Mask outside = Mask{};
    double padding[MOST_COORDINATES * W];
    for (std::ptrdiff_t begin = 0; begin < n; begin += W) {
        int used = n - begin < W ? int(n - begin) : W;
        const double *from = padded(views[0].numbers() + d * begin, d, used, padding);
        Lanes x[MOST_COORDINATES];
        x[0] = gather(from, d);
        Lanes square = x[0] * x[0];
        for (std::ptrdiff_t j = 1; j < d; j++) {
            x[j] = gather(from + j, d);
            square = square + x[j] * x[j];
        }
        outside |= ~(square <= at.square);  // also of what is not a number
        Lanes argument = at.quarter * square;
        Lanes sine = polynomial(views[3], argument);
        Lanes level = sine * sine * argument;
        Lanes cosine = root(level + 1.0);
        level = level * 2.0 + 1.0;
        Lanes sinc = sine * cosine, between = lanes(0.0);
        if (at.curvature > 0.0) {
            for (std::ptrdiff_t j = 0; j < d; j++) {
                Lanes sum = sinc * x[j] + vector[j];
                between = j ? between + sum * sum : sum * sum;
            }
            Lanes both = level + at.level;
            between = (between * at.curvature + both * both) * 0.25;
        } else {
            sine = sine * at.cosine, cosine = cosine * at.sine;
            for (std::ptrdiff_t j = 0; j < d; j++) {
                Lanes difference = sine * x[j] - cosine * vector[j];
                between = j ? between + difference * difference : difference * difference;
            }
            between = between * at.quarter + 1.0;
        }
        Lanes half = root(between), product = half;
        for (int i = 0; i < int(at.halvings); i++) {
            half = root(half * 0.5 + 0.5);
            product = product * half;
        }
        Lanes weight = polynomial(views[4], half * -0.5 + 0.5) / product;
        Lanes along = weight * level, across = weight * sinc;
        for (std::ptrdiff_t j = 0; j <= d; j++) {
            Lanes term = j < d ? across * x[j] * at.first : along * at.last;
            Mask found = bits(term + whole) - bits(whole);
            if (used == W) std::memcpy(integers + j * n + begin, &found, sizeof found);
            else
                for (int m = 0; m < used; m++) integers[j * n + begin + m] = found[m];
        }
    }
    std::int64_t any = 0;
    for (int m = 0; m < W; m++) any |= outside[m];
    views[6].as<unsigned char>()[0] = !any;
    return true;
}

}  // namespace
