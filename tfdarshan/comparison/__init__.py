"""Sessions side by side: whether they can be compared, what changed, and by more than noise or not."""
