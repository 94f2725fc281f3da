"""Types of the native module; checked against it by stubtest."""

from os import PathLike
from typing import Any, final

from numpy import float32
from numpy.typing import NDArray

__all__ = ["TextReader", "available_threads", "format_rows"]

@final
class TextReader:
    def __new__(
        cls,
        path: str | PathLike[str],
        *,
        format: str,
        n_features: int | None,
        n_labels: int | None,
        zero_based: bool,
        zero_based_labels: bool,
    ) -> TextReader: ...
    def push_file(self, *, n_threads: int) -> None: ...
    def push(self, block: bytes, *, n_threads: int) -> None: ...
    def finish(
        self, *, n_threads: int
    ) -> tuple[
        tuple[NDArray[Any], NDArray[Any], NDArray[float32]],
        tuple[NDArray[Any], NDArray[Any]],
        tuple[int, int],
    ]: ...

def available_threads() -> int: ...
def format_rows(
    x: tuple[NDArray[Any], NDArray[Any], NDArray[float32], tuple[int, int]],
    y: tuple[NDArray[Any], NDArray[Any], tuple[int, int]],
    *,
    n_threads: int,
) -> bytes: ...
