"""Goes along with TensorFlow's profiler: its sessions become ours, and ours lie beside its traces."""
