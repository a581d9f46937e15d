"""The C core as Python: the only room that loads the extensions, and typed functions over what they offer."""
