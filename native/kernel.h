// What the module knows of a kernel.

#pragma once

#include <cstddef>

// Memory that Python lends, in C order and aligned to numbers.
struct View {
    void *start;
    std::ptrdiff_t bytes;

    double *numbers() const { return static_cast<double *>(start); }
    template <class T>
    T *as() const { return static_cast<T *>(start); }
    bool holds(std::ptrdiff_t count, std::ptrdiff_t size = 8) const {
        return count >= 0 && bytes == count * size;
    }
};

struct Kernel {
    const char *name;
    int inputs, outputs;  // views, of which the last ones are written to
    bool (*run)(const View *);  // false where the views do not fit, which writes nothing
};

// ends with a kernel without a name
extern const Kernel kernels_2[], kernels_4[], kernels_8[];
