"""`python -m tfdarshan` is the `tfdarshan` command."""

import sys

from tfdarshan.commands import main

sys.exit(main())
