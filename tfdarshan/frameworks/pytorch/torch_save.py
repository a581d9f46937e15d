"""How PyTorch's checkpoints are saved in the background, as one types it."""

from __future__ import annotations

from tfdarshan.frameworks.words import IN_BACKGROUND, SAVER, Fix, Saves

SAVES = Saves(
    r"\.(?:pt|pth|ckpt)$",
    Fix(
        IN_BACKGROUND,
        f"{SAVER}saver.submit(torch.save, copy.deepcopy(model.state_dict()), path)",
        "torch.save(model.state_dict(), path)",
    ),
    "torch",
)
