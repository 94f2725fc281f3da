"""What is no model is refused by its beginning, however long it is."""

import os
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import proxtree
from proxtree import LinearOneVsRest
from proxtree.exceptions import FormatError


@pytest.fixture
def model():
    return LinearOneVsRest(0.1).fit(np.eye(40, 8), [[i % 4] for i in range(40)])


def test_a_long_file_of_something_else(tmp_path):
    path = tmp_path / "long"
    path.touch()
    # Sparse: more than any memory.
    os.truncate(path, 1 << 42)
    with pytest.raises(FormatError, match="long: not a proxtree model"):
        proxtree.load(path)


@pytest.mark.parametrize("mapped", [False, True])
def test_a_model_with_something_after_it(model, tmp_path, mapped):
    path = tmp_path / "longer"
    model.save(path, mapped=mapped)
    os.truncate(path, 1 << 42)
    with pytest.raises(FormatError, match="longer: not a proxtree model"):
        proxtree.load(path)


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes with names")
@pytest.mark.parametrize("mapped", [False, True])
@pytest.mark.parametrize("tail", [b"", b"more"])
def test_a_pipe_is_read_as_far_as_a_model_goes(model, tmp_path, mapped, tail):
    model.save(tmp_path / "m", mapped=mapped)
    os.mkfifo(tmp_path / "pipe")

    def feed():
        # Longer than a pipe's buffer: who reads it to the end never ends.
        data = (tmp_path / "m").read_bytes() + tail
        try:
            with (tmp_path / "pipe").open("wb") as pipe:
                pipe.write(data)
        except BrokenPipeError:
            pass

    writer = threading.Thread(target=feed)
    writer.start()
    try:
        if tail:
            with pytest.raises(FormatError, match="pipe: not a proxtree model"):
                proxtree.load(tmp_path / "pipe")
        else:
            X = np.eye(8)
            read = proxtree.load(tmp_path / "pipe").predict_topk(X)
            np.testing.assert_array_equal(read, model.predict_topk(X))
    finally:
        writer.join()


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no endless file here")
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom"])
def test_a_device_without_an_end(device):
    with pytest.raises(FormatError, match=f"{device}: not a proxtree model"):
        proxtree.load(device)
