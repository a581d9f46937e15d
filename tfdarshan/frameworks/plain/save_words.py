"""How files that no framework writes are saved in the background, as one types it."""

from __future__ import annotations

from tfdarshan.frameworks.words import IN_BACKGROUND, SAVER, Cure, Saves

ARRAYS = Saves(
    r"\.npy$",
    Cure(IN_BACKGROUND, f"{SAVER}saver.submit(np.save, path, array.copy())", "np.save(path, array)"),
)
ANY_FILE = Saves(
    "", Cure(IN_BACKGROUND, f"{SAVER}saver.submit(save, copy.deepcopy(state), path)", "save(state, path)")
)
