"""The I/O tab of TensorBoard; installed as `tfdarshan.tensorboard_plugin`."""
