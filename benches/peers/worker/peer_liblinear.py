"""LIBLINEAR -s 5 -B 1, default eps: the C function `train`, a label a call."""

from __future__ import annotations

import ctypes
import time

import numpy as np
from liblinear import liblinear as package

PACKAGES = ("liblinear-official",)


def train_labels(X, Y, C, threads):
    # Built once: only the labels change. `train` turns rows into columns itself.
    problem = package.problem(np.ones(X.shape[0]), X, bias=1)
    y = np.ctypeslib.as_array(problem.y, (X.shape[0],))
    parameter = package.parameter(f"-s 5 -c {C} -B 1 -q")
    n_labels = Y.shape[1]
    coef, intercept = np.zeros((n_labels, X.shape[1])), np.zeros(n_labels)
    cpu_s = np.zeros(n_labels)
    # The last, rarest, twice: first calls fault pages in.
    for label in (n_labels - 1, *range(n_labels)):
        y[:] = 2.0 * Y[:, [label]].toarray().ravel() - 1
        # It shuffles with rand(): no result depends on the label before.
        ctypes.CDLL(None).srand(1)
        start = time.process_time()
        pointer = package.liblinear.train(problem, parameter)
        cpu_s[label] = time.process_time() - start
        model = package.toPyModel(pointer)
        w = np.ctypeslib.as_array(model.w, (problem.n,))
        # The weights are those of the class that comes first in the model.
        coef[label] = w[:-1] * model.label[0]
        intercept[label] = w[-1] * model.label[0]
    return {
        "coef": coef,
        "intercept": intercept,
        "cpu_s": cpu_s,
        "total_cpu_s": cpu_s.sum(),
    }
