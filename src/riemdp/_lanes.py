"""A few numbers side by side, one to a lane of the processor, in code that numba compiles.

Plain Python takes rows of NumPy for them, and computes the same. A compiler that is left to find
lanes by itself finds them in the simplest loops alone.
"""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

#: Numbers side by side: what the widest processors take at once.
WIDE = 8


def rows(number: int) -> FloatArray:
    """Return memory ``(number, WIDE)``, not set; no row lies across two lines of a cache."""
    memory = np.empty((number + 1) * WIDE)
    start = -memory.__array_interface__["data"][0] // memory.itemsize % WIDE
    return memory[start : start + number * WIDE].reshape(number, WIDE)


def lanes(value: float) -> FloatArray:
    """Return the same number in all lanes."""
    return np.full(WIDE, value, dtype=np.float64)


def get(rows: FloatArray, i: int) -> FloatArray:
    """Return row i of ``(n, WIDE)``."""
    return np.array(rows[i])


def put(rows: FloatArray, i: int, values: FloatArray) -> None:
    """Write row i of ``(n, WIDE)``."""
    rows[i] = values


def read(values: FloatArray, start: int, step: int) -> FloatArray:
    """Return every so manieth number of an array of one axis, from one on."""
    return np.array(values[start : start + WIDE * step : step])


def write(values: FloatArray, start: int, numbers: FloatArray) -> None:
    """Write numbers that follow each other in an array of one axis."""
    values[start : start + WIDE] = numbers


def root(values: FloatArray) -> FloatArray:
    """Return square roots."""
    return np.asarray(np.sqrt(values))


def choose(test: FloatArray, yes: FloatArray, no: FloatArray) -> FloatArray:
    """Take lanes of one or the other, by whether those of the test are positive."""
    return np.where(test > 0.0, yes, no)


@functools.cache
def teach(numba: Any) -> None:
    """Tell numba what the functions above are, and sums, differences, products and quotients.

    Each rounds as IEEE 754 says: nothing allows a compiler to contract or reorder them.

    Parameters
    ----------
    numba : module
    """
    types, extending, cgutils = numba.core.types, numba.extending, numba.core.cgutils
    ir = cgutils.ir
    vector = ir.VectorType(ir.DoubleType(), WIDE)
    unset = ir.Constant(vector, ir.Undefined)

    class Lanes(types.Type):  # type: ignore[name-defined,misc]
        def __init__(self) -> None:
            super().__init__(name=f"Lanes{WIDE}")

    def model(manager: Any, of: Any) -> Any:
        return extending.models.PrimitiveModel(manager, of, vector)

    kind = Lanes()
    extending.register_model(Lanes)(model)

    def spread(builder: Any, given: Any, value: Any) -> Any:
        """Return lanes as they are, and a number in all lanes."""
        if given == kind:
            return value
        first = ir.Constant(ir.IntType(32), 0)
        everywhere = ir.Constant(ir.VectorType(ir.IntType(32), WIDE), [0] * WIDE)
        one = builder.insert_element(unset, value, first)
        return builder.shuffle_vector(one, unset, everywhere)

    def place(context: Any, builder: Any, signature: Any, arguments: Any, step: int) -> Any:
        """Return where lanes begin, by a number of steps from the first number of an array."""
        of, given = signature.args[:2]
        array = context.make_array(of)(context, builder, arguments[0])
        index = context.cast(builder, arguments[1], given, types.intp)
        index = builder.mul(index, context.get_constant(types.intp, step))
        return builder.gep(array.data, [index])

    def read_row(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        start = place(context, builder, signature, arguments, WIDE)
        return builder.load(builder.bitcast(start, vector.as_pointer()), align=8)

    def write_to(step: int) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            start = place(context, builder, signature, arguments, step)
            builder.store(arguments[2], builder.bitcast(start, vector.as_pointer()), align=8)
            return context.get_dummy_value()

        return generate

    def read_steps(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        start = place(context, builder, signature, arguments, 1)
        step = context.cast(builder, arguments[2], signature.args[2], types.intp)
        found = unset
        for lane in range(WIDE):
            index = builder.mul(step, context.get_constant(types.intp, lane))
            number = builder.load(builder.gep(start, [index]))
            found = builder.insert_element(found, number, ir.Constant(ir.IntType(32), lane))
        return found

    def broadcast(_context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return spread(builder, signature.args[0], arguments[0])

    def square_root(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        of = ir.FunctionType(vector, [vector])
        name = f"llvm.sqrt.v{WIDE}f64"
        return builder.call(cgutils.get_or_insert_function(builder.module, of, name), arguments)

    def select(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        zero = ir.Constant(vector, [0.0] * WIDE)
        return builder.select(builder.fcmp_ordered(">", arguments[0], zero), *arguments[1:])

    def operation(name: str) -> Any:
        def generate(_context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            both = map(spread, (builder, builder), signature.args, arguments)
            return getattr(builder, name)(*both)

        intrinsic = extending.intrinsic(
            lambda _, left, right: (kind(left, right), generate)  # numba looks at the names
        )
        return lambda left, right: (
            (lambda left, right: intrinsic(left, right))
            if kind in {left, right} and {left, right} <= {kind, types.float64}
            else None
        )

    load = extending.intrinsic(lambda _, rows, i: (kind(rows, i), read_row))
    store = extending.intrinsic(
        lambda _, rows, i, values: (types.void(rows, i, values), write_to(WIDE))
    )
    gather = extending.intrinsic(
        lambda _, values, start, step: (kind(values, start, step), read_steps)
    )
    save = extending.intrinsic(
        lambda _, values, start, numbers: (types.void(values, start, numbers), write_to(1))
    )
    fill = extending.intrinsic(lambda _, value: (kind(types.float64), broadcast))
    sqrt = extending.intrinsic(lambda _, values: (kind(values), square_root))
    take = extending.intrinsic(lambda _, test, yes, no: (kind(test, yes, no), select))
    # functions of Python, whose names for what they are given count
    extending.overload(get)(lambda rows, i: lambda rows, i: load(rows, i))
    extending.overload(put)(lambda rows, i, values: lambda rows, i, values: store(rows, i, values))
    extending.overload(read)(
        lambda values, start, step: lambda values, start, step: gather(values, start, step)
    )
    extending.overload(write)(
        lambda values, start, numbers: lambda values, start, numbers: save(values, start, numbers)
    )
    extending.overload(lanes)(lambda value: lambda value: fill(value))
    extending.overload(root)(lambda values: lambda values: sqrt(values))
    extending.overload(choose)(lambda test, yes, no: lambda test, yes, no: take(test, yes, no))
    for operator_, name in (
        (operator.add, "fadd"),
        (operator.sub, "fsub"),
        (operator.mul, "fmul"),
        (operator.truediv, "fdiv"),
    ):
        extending.overload(operator_)(operation(name))
