"""Which files can be read and written: names, kinds, compression, broken disks."""

import bz2
import gzip
import lzma
import os
import resource
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from proxtree.exceptions import DataError, FormatError
from proxtree.io import load_svmlight, load_xmc, save_xmc

TEXT = b"3 3 2\n0,1 0:1 2:0.5\n \n1 1:2\n"
X = np.array([[1, 0, 0.5], [0, 0, 0], [0, 2, 0]], dtype=np.float32)
Y = np.array([[1, 1], [0, 0], [0, 1]], dtype=np.uint8)
PACK = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
UNPACK = {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}


def check(dataset):
    np.testing.assert_array_equal(dataset.X.toarray(), X)
    np.testing.assert_array_equal(dataset.Y.toarray(), Y)


def test_the_matrices_are_canonical_and_of_the_promised_types(tmp_path):
    path = tmp_path / "data.txt"
    path.write_bytes(TEXT)
    dataset = load_xmc(path)
    check(dataset)
    x, y = dataset
    for matrix, dtype in [(x, np.float32), (y, np.uint8)]:
        assert type(matrix) is sp.csr_matrix
        assert matrix.dtype == dtype
        assert matrix.indices.dtype == matrix.indptr.dtype == np.int32
        # The flag was set by us: ask a matrix that has to look for itself.
        parts = (matrix.data, matrix.indices, matrix.indptr)
        assert sp.csr_matrix(parts, shape=matrix.shape).has_canonical_format


@pytest.mark.parametrize("n_threads", [None, 1, 2, 7])
def test_any_number_of_threads_gives_the_same(tmp_path, n_threads):
    path = tmp_path / "data.txt"
    path.write_bytes(TEXT)
    check(load_xmc(path, n_threads=n_threads))
    save_xmc(tmp_path / "again", X, Y, n_threads=n_threads)
    assert (tmp_path / "again").read_bytes() == TEXT


@pytest.mark.parametrize("n_threads", [0, -1])
def test_threads_must_be_one_or_more(tmp_path, n_threads):
    path = tmp_path / "data.txt"
    path.write_bytes(TEXT)
    with pytest.raises(DataError, match=f"n_threads is {n_threads}"):
        load_xmc(path, n_threads=n_threads)
    with pytest.raises(DataError, match=f"n_threads is {n_threads}"):
        save_xmc(path, X, Y, n_threads=n_threads)
    assert path.read_bytes() == TEXT


@pytest.mark.parametrize("kind", [str, bytes, Path])
@pytest.mark.parametrize(
    "name", ["a b.txt", "größe-資料.txt", "~", "no_suffix", "x.GZ"]
)
def test_any_name_is_taken_as_it_is(tmp_path, monkeypatch, kind, name):
    monkeypatch.chdir(tmp_path)
    path = os.fsencode(name) if kind is bytes else kind(name)
    save_xmc(path, X, Y)
    assert [file.name for file in tmp_path.iterdir()] == [name]
    check(load_xmc(path))


def test_names_that_are_no_text_work(tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff\xfe.txt"
    save_xmc(path, X, Y)
    assert [os.fsencode(file.name) for file in tmp_path.iterdir()] == [b"\xff\xfe.txt"]
    check(load_xmc(path))


@pytest.mark.parametrize("path", [3, None, ["a"]])
def test_other_things_than_names_are_refused(path):
    with pytest.raises(TypeError):
        load_xmc(path)
    with pytest.raises(TypeError):
        save_xmc(path, X, Y)


@pytest.mark.parametrize("suffix", PACK)
def test_compressed_files_are_known_by_their_suffix(tmp_path, suffix):
    path = tmp_path / f"data.txt{suffix}"
    path.write_bytes(PACK[suffix](TEXT))
    check(load_xmc(path))
    path.write_bytes(PACK[suffix](TEXT.split(b"\n", 1)[1]))
    check(load_svmlight(path))
    save_xmc(path, X, Y)
    packed = path.read_bytes()
    assert UNPACK[suffix](packed) == TEXT
    save_xmc(tmp_path / f"other{suffix}", X, Y)
    assert (tmp_path / f"other{suffix}").read_bytes() == packed


@pytest.mark.parametrize("suffix", PACK)
def test_broken_compressed_files_are_named(tmp_path, suffix):
    path = tmp_path / f"data.txt{suffix}"
    packed = PACK[suffix](TEXT * 50)
    flipped = bytearray(packed)
    flipped[len(packed) // 2] ^= 0x55
    for broken in [TEXT, packed[:-5], packed[:20], bytes(flipped)]:
        path.write_bytes(broken)
        with pytest.raises(
            FormatError, match=f"data.txt{suffix}: broken {suffix} data"
        ):
            load_xmc(path)
    path.write_bytes(PACK[suffix](TEXT + b"oops"))
    with pytest.raises(FormatError, match=f"data.txt{suffix}, line 5: .*'oops'"):
        load_xmc(path)
    path.write_bytes(PACK[suffix](b""))
    with pytest.raises(FormatError, match=f"data.txt{suffix}: the file is empty"):
        load_xmc(path)


def test_directories_and_missing_files_are_system_errors(tmp_path):
    for loader in [load_xmc, load_svmlight]:
        with pytest.raises(IsADirectoryError, match=tmp_path.name):
            loader(tmp_path)
        with pytest.raises(FileNotFoundError, match="nothing"):
            loader(tmp_path / "nothing")
    with pytest.raises(IsADirectoryError, match=tmp_path.name):
        save_xmc(tmp_path, X, Y)
    with pytest.raises(FileNotFoundError, match="nothing/here"):
        save_xmc(tmp_path / "nothing" / "here", X, Y)
    assert list(tmp_path.iterdir()) == []


def test_pipes_are_streamed(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(TEXT,))
    writer.start()
    check(load_xmc(path))
    writer.join()
    read = []
    reader = threading.Thread(
        target=lambda: read.append(path.read_bytes()), daemon=True
    )
    reader.start()
    save_xmc(path, X, Y)
    reader.join(timeout=10)
    assert read == [TEXT]
    assert path.is_fifo()


def test_a_silent_pipe_gives_way_to_ctrl_c(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    code = (
        # Imported before the clock starts: an interrupted import is another story.
        "import signal, sys\nfrom proxtree import load_xmc\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.3)\n"
        "signal.signal(signal.SIGALRM, signal.default_int_handler)\n"
        "try:\n    load_xmc(sys.argv[1])\n"
        "except KeyboardInterrupt:\n    print('stopped')\n"
    )
    # Held open here, so that the reader waits for bytes and not for a writer.
    silent = os.open(path, os.O_RDWR)
    try:
        done = subprocess.run(
            [sys.executable, "-c", code, path],
            capture_output=True,
            timeout=30,
            check=True,
        )
    finally:
        os.close(silent)
    assert done.stdout == b"stopped\n"


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_a_file_without_a_size_is_streamed():
    # The kernel says 0 bytes; what it holds is no XMC text.
    with pytest.raises(FormatError, match=r"/proc/self/status, line 1: .*'Name:'"):
        load_xmc("/proc/self/status")


def test_saving_goes_through_a_link(tmp_path):
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("real.txt")
    save_xmc(tmp_path / "link.txt", X, Y)
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_bytes() == TEXT
    check(load_xmc(tmp_path / "link.txt"))


def test_saving_keeps_permissions_and_new_files_follow_the_umask(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("old")
    old.chmod(0o600)
    before = os.umask(0o027)
    try:
        save_xmc(old, X, Y)
        save_xmc(new, X, Y)
    finally:
        os.umask(before)
    assert old.stat().st_mode & 0o777 == 0o600
    assert new.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("suffix", ["", *PACK])
def test_a_full_disk_leaves_the_old_file(tmp_path, suffix):
    path = tmp_path / f"data{suffix}"
    path.write_text("old")
    rng = np.random.default_rng(0)
    big = sp.csr_matrix(rng.random((300, 200)).astype(np.float32))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    # Python ignores SIGXFSZ, so that writing past the limit is an error.
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            save_xmc(path, big, np.zeros((300, 1)))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
