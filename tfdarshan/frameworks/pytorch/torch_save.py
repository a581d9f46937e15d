"""How PyTorch's checkpoints are saved in the background, as one types it."""

from __future__ import annotations

from tfdarshan.frameworks.words import IN_BACKGROUND, SAVER, Cure, Saves

SAVES = Saves(
    r"\.(?:pt|pth|ckpt)$",
    Cure(
        IN_BACKGROUND,
        f"{SAVER}saver.submit(torch.save, copy.deepcopy(model.state_dict()), path)",
        "torch.save(model.state_dict(), path)",
    ),
    "torch",
)
