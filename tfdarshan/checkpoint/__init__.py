"""The checkpoint burst buffer: save to a fast tier, let training go on, make it durable on a slow one."""
