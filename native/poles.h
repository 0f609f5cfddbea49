// Partial fractions of the logarithm, and their public poles: see riemdp.spaces._log_fractions.

#pragma once

#include "lanes.h"

namespace {

constexpr double LOG_2 = 0x1.62e42fefa39efp-1;

// Poles of all classes.
struct Poles {
    std::ptrdiff_t classes, width;  // and poles of each at most
    const std::int64_t *counts;
    const double *shifts, *weights;  // (classes, width); weights beyond the numbers are zero

    // numbers of poles, shifts, weights
    explicit Poles(const View *views)
        : classes(views[0].bytes / 8), width(classes ? views[1].bytes / 8 / classes : 0),
          counts(views[0].as<std::int64_t>()), shifts(views[1].numbers()),
          weights(views[2].numbers()) {}

    bool fit(const View *views) const {
        for (std::ptrdiff_t i = 0; i < classes; i++)
            if (counts[i] < 0 || counts[i] > width) return false;
        return classes > 0 && views[0].holds(classes) && views[1].holds(classes * width)
            && views[2].holds(classes * width);
    }
};

// Poles of W records, each of the class of its lane. Lanes of a class with fewer poles than another
// have some of no weight, which add nothing.
class PolesOfLanes {
    const Poles &poles;
    std::ptrdiff_t begin[W], count = 0;
    bool alike = true;

    Lanes own(const double *from, std::ptrdiff_t j) const {
        Lanes found;
        for (int m = 0; m < W; m++) found[m] = from[begin[m] + j];
        return found;
    }

public:
    PolesOfLanes(const Poles &poles, Mask which) : poles(poles) {
        for (int m = 0; m < W; m++) {
            begin[m] = which[m] * poles.width;
            alike &= which[m] == which[0];
            if (poles.counts[which[m]] > count) count = poles.counts[which[m]];
        }
    }

    // do something with each pole and its weight, in order
    template <class Function>
    void each(Function function) const {
        const double *shifts = poles.shifts, *weights = poles.weights;
        if (alike)
            for (std::ptrdiff_t j = begin[0]; j < begin[0] + count; j++)
                function(lanes(shifts[j]), lanes(weights[j]));
        else
            for (std::ptrdiff_t j = 0; j < count; j++) function(own(shifts, j), own(weights, j));
    }

    // do something with four at a time, the last ones of no weight: where the width is so
    template <class Function>
    void fours(Function function) const {
        for (std::ptrdiff_t j = 0; j < count; j += 4) {
            Lanes s[4], w[4];
            for (int p = 0; p < 4; p++) {
                s[p] = own(poles.shifts, j + p);
                w[p] = own(poles.weights, j + p);
            }
            function(s, w);
        }
    }
};

}  // namespace
