"""The package from outside: names, import cost, versions."""

import subprocess
import sys
from importlib.metadata import version

import pytest

import proxtree


def test_every_public_name_is_there():
    for name in proxtree.__all__:
        assert getattr(proxtree, name) is not None
    assert set(proxtree.__all__) <= set(dir(proxtree))
    listed = {*proxtree._HOMES, *proxtree._MODULES, "__version__"}
    assert listed == set(proxtree.__all__)


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="no attribute 'forest'"):
        _ = proxtree.forest


def test_version_is_that_of_the_distribution():
    assert proxtree.__version__ == version("proxtree")


def test_import_loads_neither_numpy_nor_scipy():
    code = "import sys, proxtree; print(*({'numpy', 'scipy'} & set(sys.modules)))"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == ""


def test_import_does_not_set_up_logging():
    code = "import logging, proxtree.estimators; print(logging.root.handlers)"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"
