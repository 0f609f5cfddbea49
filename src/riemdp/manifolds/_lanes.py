"""A few numbers side by side, one to a lane of the processor, in code that numba compiles.

Plain Python takes rows of NumPy for them, and computes the same. A compiler that is left to find
lanes by itself finds them in the simplest loops alone.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from riemdp.manifolds._points import FloatArray

#: Numbers side by side: what the widest processors take at once.
WIDE = 8


def rows(number: int) -> FloatArray:
    """Return memory ``(number, WIDE)``, not set; no row lies across two lines of a cache."""
    memory = np.empty((number + 1) * WIDE)
    start = -memory.ctypes.data // memory.itemsize % WIDE
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


def root(values: FloatArray) -> FloatArray:
    """Return square roots."""
    return np.asarray(np.sqrt(values))


def choose(test: FloatArray, yes: FloatArray, no: FloatArray) -> FloatArray:
    """Take lanes of one or the other, by whether those of the test are positive."""
    return np.where(test > 0.0, yes, no)


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

    def place(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        """Return where a row begins."""
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        index = context.cast(builder, arguments[1], signature.args[1], types.intp)
        index = builder.mul(index, context.get_constant(types.intp, WIDE))
        return builder.bitcast(builder.gep(array.data, [index]), vector.as_pointer())

    def read(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(place(context, builder, signature, arguments), align=8)

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[2], place(context, builder, signature, arguments), align=8)
        return context.get_dummy_value()

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

    load = extending.intrinsic(lambda _, rows, i: (kind(rows, i), read))
    store = extending.intrinsic(lambda _, rows, i, values: (types.void(rows, i, values), write))
    fill = extending.intrinsic(lambda _, value: (kind(types.float64), broadcast))
    sqrt = extending.intrinsic(lambda _, values: (kind(values), square_root))
    take = extending.intrinsic(lambda _, test, yes, no: (kind(test, yes, no), select))
    # functions of Python, whose names for what they are given count
    extending.overload(get)(lambda rows, i: lambda rows, i: load(rows, i))
    extending.overload(put)(lambda rows, i, values: lambda rows, i, values: store(rows, i, values))
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
