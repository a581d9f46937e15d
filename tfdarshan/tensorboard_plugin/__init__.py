"""The I/O tab of TensorBoard.

It lives inside the package, for a package named tensorboard_plugin would be anybody's.
"""
