"""Training loops of libraries on top of PyTorch, of which each step reads for READ_S a sample.

Prints how many steps the library says it made, and where the session is.
"""

import json
import sys
import time
from pathlib import Path

import torch
from torch.utils.data import DataLoader, Dataset

import tfdarshan

SAMPLES, BATCH, EPOCHS, READ_S = 24, 4, 2, 0.002


class Slow(Dataset):
    def __len__(self):
        return SAMPLES

    def __getitem__(self, number):
        time.sleep(READ_S)
        return {"x": torch.full((8,), float(number)), "labels": torch.tensor([1.0])}


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 1)

    def forward(self, x, labels=None):
        out = self.linear(x)
        return {"loss": torch.nn.functional.mse_loss(out, labels.reshape(out.shape)), "logits": out}


def accelerate(_folder):
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=True)
    model = Model()
    stepper = torch.optim.SGD(model.parameters(), lr=1e-6)
    loader = DataLoader(Slow(), batch_size=BATCH, shuffle=True)
    model, stepper, loader = accelerator.prepare(model, stepper, loader)
    steps = 0
    for _ in range(EPOCHS):
        for batch in loader:
            accelerator.backward(model(**batch)["loss"])
            stepper.step()
            steps += 1
    return steps


def lightning(folder):
    import lightning

    class Trained(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.model = Model()

        def training_step(self, batch, _place):
            return self.model(**batch)["loss"]

        def validation_step(self, batch, _place):
            self.model(**batch)

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=1e-6)

    trainer = lightning.Trainer(
        max_epochs=EPOCHS, accelerator="cpu", default_root_dir=folder, logger=False,
        enable_progress_bar=False, enable_checkpointing=False, enable_model_summary=False,
    )  # fmt: skip
    loaders = DataLoader(Slow(), batch_size=BATCH, shuffle=True), DataLoader(Slow(), batch_size=2 * BATCH)
    trainer.fit(Trained(), *loaders)
    return trainer.global_step


def trainer(folder):
    import transformers

    arguments = transformers.TrainingArguments(
        str(Path(folder) / "out"), num_train_epochs=EPOCHS, per_device_train_batch_size=BATCH, report_to=[],
        save_strategy="no", use_cpu=True, gradient_accumulation_steps=2, remove_unused_columns=False,
        disable_tqdm=True,
    )  # fmt: skip
    made = transformers.Trainer(Model(), arguments, train_dataset=Slow())
    return made.train().global_step


def main(folder, name):
    with tfdarshan.profile(Path(folder) / "logs") as session:
        steps = globals()[name](folder)
    print(json.dumps({"steps": steps, "session": str(session.path)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
