// The Python module riemdp._lanes, of the stable interface from 3.11 on.

#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include <cstring>

#include "kernel.h"

namespace {

constexpr int MOST = 16;  // views of a kernel

struct Width {
    long lanes;
    const Kernel *kernels;
};

// those that the processor has, ascending; ends with no kernels
const Width *widths() {
    static Width found[4];
    if (!found[0].kernels) {
        int count = 0;
        found[count++] = {2, kernels_2};
#if defined(__x86_64__)
        __builtin_cpu_init();
        if (__builtin_cpu_supports("avx2")) found[count++] = {4, kernels_4};
        if (__builtin_cpu_supports("avx512f")) found[count++] = {8, kernels_8};
#endif
    }
    return found;
}

// Code of another library may have set the processor to flush them to zero.
bool keeps_tiny_numbers() {
    volatile double least = 0x1p-1074, normal = 0x1p-1022;
    return least * 0x1p60 > 0.0 && normal * 0.5 > 0.0;
}

PyObject *get_widths(PyObject *, PyObject *) {
    PyObject *list = PyList_New(0);
    for (const Width *at = widths(); list && at->kernels; at++) {
        PyObject *lanes = PyLong_FromLong(at->lanes);
        if (!lanes || PyList_Append(list, lanes)) Py_CLEAR(list);
        Py_XDECREF(lanes);
    }
    return list;
}

const Kernel *find(long lanes, const char *name) {
    for (const Width *at = widths(); at->kernels; at++)
        if (at->lanes == lanes)
            for (const Kernel *kernel = at->kernels; kernel->name; kernel++)
                if (!std::strcmp(kernel->name, name)) return kernel;
    return nullptr;
}

PyObject *run(PyObject *, PyObject *arguments) {
    Py_ssize_t count = PyTuple_Size(arguments) - 2;
    if (count < 0 || count > MOST) {
        PyErr_SetString(PyExc_TypeError, "run(lanes, name, *arrays)");
        return nullptr;
    }
    long lanes = PyLong_AsLong(PyTuple_GetItem(arguments, 0));
    if (lanes == -1 && PyErr_Occurred()) return nullptr;
    const char *name = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(arguments, 1), nullptr);
    if (!name) return nullptr;
    const Kernel *kernel = find(lanes, name);
    if (!kernel || kernel->inputs + kernel->outputs != count) Py_RETURN_FALSE;
    Py_buffer buffers[MOST];
    View views[MOST];
    int taken = 0;
    bool done = true;
    for (; taken < count; taken++) {
        int flags = taken < kernel->inputs ? PyBUF_SIMPLE : PyBUF_WRITABLE;
        if (PyObject_GetBuffer(PyTuple_GetItem(arguments, taken + 2), &buffers[taken], flags)) break;
        views[taken] = {buffers[taken].buf, buffers[taken].len};
    }
    if (taken == count) {
        PyThreadState *state = PyEval_SaveThread();
        done = keeps_tiny_numbers() && kernel->run(views);
        PyEval_RestoreThread(state);
    }
    bool failed = taken < count;
    while (taken > 0) PyBuffer_Release(&buffers[--taken]);
    return failed ? nullptr : PyBool_FromLong(done);
}

PyMethodDef functions[] = {
    {"widths", get_widths, METH_NOARGS, "Numbers of lanes that the processor has, ascending."},
    {"run", run, METH_VARARGS,
     "run(lanes, name, *arrays): whether a kernel did its work. Otherwise nothing was written."},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef_Slot slots[] = {{0, nullptr}};

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_lanes", "Kernels: see native/.", 0, functions, slots,
    nullptr, nullptr, nullptr,
};

}  // namespace

PyMODINIT_FUNC PyInit__lanes() { return PyModuleDef_Init(&definition); }
