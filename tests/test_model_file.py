"""The model's file seen from Python: names, folders, damage, full disks, pickles."""

import copy
import errno
import os
import pickle
import resource
import shutil
import stat
from pathlib import Path

import cloudpickle
import joblib
import numpy as np
import pytest

from proxtree._core import Model
from proxtree.exceptions import FormatError

DATA = Path(__file__).parent / "data"


def build(weight=1.0, n_features=3):
    coef = (
        np.array([0, 1, 2], np.int32),
        np.array([0, 2], np.int32),
        np.array([weight, 2.0], np.float32),
        (2, n_features),
    )
    return Model.from_coef(
        coef, np.array([0.1, 0.0]), untrained=np.array([], np.int32), normalize=False
    )


def save(model, path):
    model.save(path, class_name="C", settings='{"alpha": 1}', extra=[])


def weight(path):
    return Model.load(path)[0].coef()[0][2][0]


def scores(model):
    x = (
        np.array([0, 3], np.int32),
        np.arange(3, dtype=np.int32),
        np.ones(3, np.float32),
        (1, 3),
    )
    return model.decision_function(x, n_threads=1)


def test_everything_handed_in_comes_back(tmp_path):
    extra = [("names", "U8", [2], b"ab"), ("gap", "F64", [1, 2], bytes(16))]
    settings = '{"alpha": 1.0, "s": "ü\\n"}'
    build().save(tmp_path / "m", class_name="K", settings=settings, extra=extra)
    assert [p.name for p in tmp_path.iterdir()] == ["m"]
    model, class_name, back, arrays = Model.load(tmp_path / "m")
    assert (class_name, back) == ("K", settings)
    assert sorted(arrays) == sorted(extra)
    assert (scores(model) == scores(build())).all()
    data = model.to_bytes(class_name="K", settings=settings, extra=extra)
    assert data == (tmp_path / "m").read_bytes()
    assert Model.from_bytes(data)[1:3] == ("K", settings)


def test_size_bytes_counts_the_model_alone(tmp_path):
    model = build()
    model.save(tmp_path / "m", class_name="", settings="", extra=[])
    assert model.size_bytes == (tmp_path / "m").stat().st_size


def test_saving_replaces_the_old_model(tmp_path):
    path = tmp_path / "m"
    save(build(1.0), path)
    save(build(3.0), path)
    assert weight(path) == 3.0
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("name", ["mödel", "a b", "~", "m.tar.gz", "-o", ".hidden"])
def test_any_name_is_taken_as_it_is(tmp_path, name, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(build(), name)
    assert [p.name for p in tmp_path.iterdir()] == [name]
    assert weight(Path(name)) == 1.0


def test_a_link_is_followed(tmp_path):
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "m", tmp_path / "link"
    link.symlink_to("real/m")
    save(build(1.0), link)  # the target does not exist yet
    save(build(4.0), link)
    assert link.is_symlink()
    assert weight(target) == 4.0


def test_permissions_are_those_of_a_plain_file(tmp_path):
    path = tmp_path / "m"
    before = os.umask(0o027)
    try:
        save(build(), path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o600)
    save(build(), path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_places_that_cannot_be_written_are_os_errors(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        save(build(), tmp_path / "none" / "m")
    assert caught.value.filename == str(tmp_path / "none" / "m")
    with pytest.raises(IsADirectoryError):
        save(build(), tmp_path)
    with pytest.raises(FileNotFoundError):
        Model.load(tmp_path / "none")
    with pytest.raises(IsADirectoryError):
        Model.load(tmp_path)
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(OSError, match="loop"):
        Model.load(loop)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_a_permission_error(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError):
        save(build(), tmp_path / "m")


def test_a_full_disk_leaves_the_old_model(tmp_path):
    path = tmp_path / "m"
    save(build(5.0), path)
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limit[1]))
    try:
        with pytest.raises(OSError, match="File too large") as caught:
            build().save(
                path,
                class_name="",
                settings="",
                extra=[("x", "U8", [9999], bytes(9999))],
            )
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert (caught.value.errno, caught.value.filename) == (errno.EFBIG, str(path))
    assert weight(path) == 5.0
    assert [p.name for p in tmp_path.iterdir()] == ["m"]


def test_a_pipe_is_written_through(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        save(build(), pipe)
        assert Model.from_bytes(os.read(reader, 1 << 16))[1] == "C"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_damaged_files_are_format_errors_that_name_the_file(tmp_path):
    path = tmp_path / "m"
    shutil.copy(DATA / "label_tree_v2.model", path)
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(FormatError, match=r"m: section tree0\.\w+ is damaged"):
        Model.load(path)
    for broken in (b"", data[:300], np.random.default_rng(0).bytes(500)):
        path.write_bytes(broken)
        with pytest.raises(FormatError, match="m: not a proxtree model"):
            Model.load(path)
    newer = data.replace(rb"format_version\":2", rb"format_version\":4")
    path.write_bytes(newer)
    with pytest.raises(FormatError, match=r"version 4.*reads format versions 1 to 3"):
        Model.load(path)


@pytest.mark.parametrize(
    "through",
    [
        lambda m: pickle.loads(pickle.dumps(m)),
        lambda m: pickle.loads(pickle.dumps(m, protocol=0)),
        lambda m: cloudpickle.loads(cloudpickle.dumps(m)),
        copy.deepcopy,
        copy.copy,
    ],
)
def test_copies_predict_the_same(through):
    model = build(0.3)
    assert (scores(through(model)) == scores(model)).all()


def test_joblib_keeps_a_model(tmp_path):
    model = build(0.3)
    joblib.dump(model, tmp_path / "m.joblib")
    assert (scores(joblib.load(tmp_path / "m.joblib")) == scores(model)).all()
