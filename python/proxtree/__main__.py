"""Run the command line with ``python -m proxtree``."""

import sys

from proxtree.cli import main

if __name__ == "__main__":
    sys.exit(main())
