"""A job that starts its two ranks itself, as PyTorch's tutorials do, and records the loop of each.

With "" for a logdir, it records nothing.
"""

import os
import sys
from contextlib import nullcontext

import torch
from torch.utils.data import DataLoader, TensorDataset

import tfdarshan

RANKS, STEPS = 2, 6


def train(rank, logdir, port):
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "127.0.0.1", port
    torch.distributed.init_process_group("gloo", rank=rank, world_size=RANKS)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-9)
    with tfdarshan.profile(logdir) if logdir else nullcontext():
        for (batch,) in DataLoader(TensorDataset(torch.ones(STEPS, 1))):
            model(batch).sum().backward()
            optimizer.step()
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    logdir, port, method = sys.argv[1:]
    torch.multiprocessing.start_processes(train, args=(logdir, port), nprocs=RANKS, start_method=method)
