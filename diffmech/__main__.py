"""`python -m diffmech` is the `diffmech` command."""

from .cli import main

if __name__ == "__main__":
    main()
