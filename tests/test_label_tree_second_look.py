"""Features that matter only once others have weights."""

import numpy as np
import pytest
from scipy import sparse

from proxtree import LinearLabelTree

N_FILLERS = 120


def suppressor_problem():
    """Return X, Y: feature 0 is the class plus noise, feature 1 the noise alone.

    The noise is balanced within each class, so that feature 1 has the derivative 0 as
    long as no feature has a weight. The other features mark two positives each: enough
    for the steep ones to be swept first.
    """
    sign, noise = (a.ravel() for a in np.meshgrid([1.0, -1.0], [1.0, -1.0] * 50))
    fillers = np.zeros((len(sign), N_FILLERS))
    positives = np.flatnonzero(sign > 0)
    for k in range(N_FILLERS):
        fillers[positives[[k % 100, (k + 37) % 100]], k] = 1.0
    X = np.column_stack([sign + noise, noise, fillers])
    # Labels 0 and 1 for positives, 2 and 3 for negatives, in two nodes of the root.
    is_positive = sign > 0
    Y = np.column_stack([is_positive] * 2 + [~is_positive] * 2)
    return sparse.csr_matrix(X, dtype=np.float32), sparse.csr_matrix(Y, dtype=np.uint8)


@pytest.mark.parametrize("violation_tol", [0.03, 1e-4], ids=["f32", "f64"])
def test_a_feature_without_derivative_at_the_start_gets_its_weight(violation_tol):
    X, Y = suppressor_problem()
    model = LinearLabelTree(
        tree=[[0, 1], [2, 3]],
        violation_tol=violation_tol,
        alpha_exponent=0.0,
        propensity_weight=0.0,
    ).fit(X, Y)
    root = next(model.nodes())
    # The class is feature 0 minus feature 1.
    class_weight, noise_weight = root.coef[0, 0], root.coef[0, 1]
    assert class_weight > 0.5
    assert noise_weight < -0.5
