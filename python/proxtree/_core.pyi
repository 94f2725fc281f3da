"""Types of the native module; checked against it by stubtest."""

__all__ = ["available_threads"]

def available_threads() -> int: ...
