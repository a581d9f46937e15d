"""TensorFlow: jobs whose batches come from tf.data."""
