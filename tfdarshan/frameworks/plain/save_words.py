"""How files that no framework writes are saved in the background, as one types it."""

from __future__ import annotations

from tfdarshan.frameworks.words import IN_BACKGROUND, SAVER, Fix, Saves

ARRAYS = Saves(
    r"\.npy$",
    Fix(IN_BACKGROUND, f"{SAVER}saver.submit(np.save, path, array.copy())", "np.save(path, array)"),
)
ANY_FILE = Saves(
    "",
    Fix(IN_BACKGROUND, f"{SAVER}saver.submit(save, copy.deepcopy(state), path)", "save(state, path)"),
)
