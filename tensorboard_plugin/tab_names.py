"""What TensorBoard calls the plug-in, and what people read on its tab."""

NAME = "tfdarshan"
TAB = "I/O"
