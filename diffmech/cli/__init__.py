"""The command line: words in, one public call, files and a sentence out.

Nothing heavy is imported until a command needs it, so that `diffmech --help` answers at once.
"""

from ._main import cli as cli, main as main, run as run
