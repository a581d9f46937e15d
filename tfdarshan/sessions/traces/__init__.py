"""The traces of TensorFlow's profiler that lie beside sessions or carry one."""
