"""Shared fixtures and the hypothesis profile."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import settings
from scipy import sparse

settings.register_profile("everyday", max_examples=50, deadline=None)
settings.load_profile("everyday")


@pytest.fixture(scope="session")
def problem():
    """X (80, 30) float32 and Y (80, 7) uint8, each label linear and on 16 samples."""
    n_samples, n_features, n_labels = 80, 30, 7
    rng = np.random.default_rng(0)
    X = rng.uniform(0.1, 2.0, (n_samples, n_features))
    X *= rng.random((n_samples, n_features)) < 0.2
    W = rng.normal(size=(n_features, n_labels))
    Z = X @ W
    Y = np.quantile(Z, 0.8, axis=0) < Z
    return (
        sparse.csr_matrix(X.astype(np.float32)),
        sparse.csr_matrix(Y.astype(np.uint8)),
    )


@pytest.fixture(scope="session")
def printed_by():
    """Run code in a fresh interpreter, which must end well; what it prints."""

    def run(code, *arguments):
        result = subprocess.run(
            [sys.executable, "-c", code, *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert result.returncode == 0, result.stderr[-500:]
        return result.stdout

    return run
