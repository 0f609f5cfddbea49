// All kernels for one width, LANES. Another kernel is one more header and one more line.

#include "definite.h"
#include "logarithms.h"
#include "logarithms_3x3.h"
#include "matrices.h"
#include "space_form_sums.h"

#define TABLE_OF(width) kernels_##width
#define TABLE(width) TABLE_OF(width)

extern const Kernel TABLE(LANES)[] = {
    {"definite", 2, 2, definite},
    {"logarithms", 6, 4, logarithms},
    {"logarithms_3x3", 8, 3, logarithms_3x3},
    {"congruent", 4, 2, congruent},
    {"exponentials", 3, 2, exponentials},
    {"grams", 4, 2, grams},
    {"defects", 5, 2, defects},
    {"space_form_sums", 5, 2, space_form_sums},
    {nullptr, 0, 0, nullptr},
};
