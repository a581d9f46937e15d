"""What the command's exit codes mean; 0 is success."""

FAILURE = 1
WRONG_USE = 2
BROKEN_PIPE = 141
