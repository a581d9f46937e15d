"""Fixes of the loaders that Hugging Face's Trainer makes, as one types them: by its arguments."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tfdarshan.frameworks.pytorch.loader_look import DEFAULT_PREFETCH
from tfdarshan.frameworks.pytorch.loader_words import LoaderWords
from tfdarshan.frameworks.words import Fix


class TrainerWords(LoaderWords):
    """The words for a loader that a Trainer made: `trainer` of its look has the classes to name."""

    def loader(self, **changes: Any) -> str:
        """Return the Trainer's arguments, as a program has them, that say how batches are prepared."""
        given = {**self._look, **changes}
        arguments = ["output_dir"]
        if given.get("workers"):
            arguments.append(f"dataloader_num_workers={given['workers']}")
            ahead = given.get("prefetch_factor") or DEFAULT_PREFETCH
            if ahead != DEFAULT_PREFETCH:
                arguments.append(f"dataloader_prefetch_factor={ahead}")
            if given.get("persistent"):
                arguments.append("dataloader_persistent_workers=True")
            if not given.get("in_order", True):
                arguments.append("dataloader_in_order=False")
        return f"args = {self._arguments}({', '.join(arguments)})"

    def keep_in_memory(self) -> Fix:
        """Word it by the data set that the Trainer is given."""
        fix = super().keep_in_memory()
        if not fix.loads_first:
            return fix
        samples, trainer = fix.line.split("\n", 1)[0], self._look["trainer"][0]
        # Of a data set that is a package's, the Trainer itself leaves such columns out.
        columns = " Leave out columns that the model does not take." if self._look.get("installed") else ""
        return Fix(
            f"{fix.what}{columns}",
            f"{samples}\ntrainer = {trainer}(model, args, train_dataset=samples)",
            f"trainer = {trainer}(model, args, train_dataset=dataset)",
            loads_first=True,
            all_input=fix.all_input,
        )

    def more_validation(self, readers: int) -> Fix:
        """Word it by the argument that all loaders have."""
        return self._changed(
            f"Have {readers} workers read the validation set.", workers=readers, persistent=True
        )

    def keep_workers(self) -> Fix:
        """Word it by an argument."""
        return self._changed("Keep the workers from one epoch to the next.", persistent=True)

    def any_order(self) -> Fix:
        """Word it by an argument of Transformers 5."""
        return self._changed(
            "Take each batch when it is ready, whichever worker made it. This needs a Transformers whose "
            f"{self._arguments} have dataloader_in_order. The order of batches then differs from run to run.",
            in_order=False,
        )

    def read_in_order(self, samples: int) -> Fix:
        """Word it by an order that the Trainer takes in each epoch."""
        fix = super().read_in_order(samples)
        return replace(fix, line=fix.line.replace("  # each epoch", ""))

    def part_of_rank(self) -> Fix:
        """Word it by how the job is started: the Trainer gives ranks their parts."""
        return Fix(
            "Start the job by `torchrun` or `accelerate launch`: the Trainer then gives each rank its part."
        )

    def _sampled(self, sampler: str, **changes: Any) -> str:
        """Return what gives the Trainer another order of its samples, and its arguments."""
        given = f"trainer._get_train_sampler = lambda *_: {sampler}  # before trainer.train()"
        return f"{given}\n{self.loader(**changes)}"

    def _changed(self, what: str, **changes: Any) -> Fix:
        fix = super()._changed(what, **changes)
        return Fix(f"{fix.what} Keep the other arguments.", fix.line, fix.instead_of)

    @property
    def _arguments(self) -> str:
        return str(self._look["trainer"][1])
