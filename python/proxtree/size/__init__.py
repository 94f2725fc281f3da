"""Space, memory and time of a model, known before it is trained."""

from proxtree.size._plan import plan
from proxtree.size._size_plan import SizePlan

__all__ = ["SizePlan", "plan"]
