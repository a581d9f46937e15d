"""AlexNet in PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn


def make_network(*, side: int, classes: int, width: float, seed: int) -> nn.Module:
    """Return AlexNet, built.

    Args:
        side: Side of the square RGB input, 64 or more; 224 as published.
        classes: Categories.
        width: Factor on filters and units; 1 as published.
        seed: Of the weights.
    """
    torch.manual_seed(seed)

    def scaled(count: int) -> int:
        return max(4, round(count * width))

    network = nn.Sequential(
        nn.Conv2d(3, scaled(96), 11, stride=4, padding=5),
        nn.ReLU(),
        nn.LocalResponseNorm(5),
        nn.MaxPool2d(3, 2),
        nn.Conv2d(scaled(96), scaled(256), 5, padding=2),
        nn.ReLU(),
        nn.LocalResponseNorm(5),
        nn.MaxPool2d(3, 2),
        nn.Conv2d(scaled(256), scaled(384), 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(scaled(384), scaled(384), 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(scaled(384), scaled(256), 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(3, 2),
        nn.Flatten(),
        nn.LazyLinear(scaled(4096)),
        nn.ReLU(),
        nn.Dropout(0.5),
        nn.Linear(scaled(4096), scaled(4096)),
        nn.ReLU(),
        nn.Dropout(0.5),
        nn.Linear(scaled(4096), classes),
    )
    with torch.no_grad():
        network(torch.zeros(1, 3, side, side))
    return network


def trainer(network: nn.Module, optimizer: torch.optim.Optimizer) -> Callable[[Any, Any], None]:
    """Return what trains on a batch of images, floats of shape (batch, 3, side, side), and their labels."""
    loss = nn.CrossEntropyLoss()

    def train(images: Any, labels: Any) -> None:
        optimizer.zero_grad()
        loss(network(images), labels).backward()
        optimizer.step()

    return train


def parameters(network: nn.Module) -> int:
    """Return how many numbers are trained."""
    return sum(one.numel() for one in network.parameters())
