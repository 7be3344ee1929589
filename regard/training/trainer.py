"""The training loop with a run folder: what it tells, how it is judged, what it saves."""

from __future__ import annotations

from typing import Any

from regard.checkpoint import write_tensors
from regard.config import ConfigError, nearest
from regard.data.batches import Batches
from regard.fast.device import put_random_state, random_state
from regard.models import Model
from regard.nn.lowrank import merged
from regard.runfolder import Run
from regard.tasks.base import Task
from regard.training.health import TrainingError, check_losses, check_weights, last_good, mean
from regard.training.loop import Latest, Loop
from regard.training.place import Place
from regard.training.records import Listen
from regard.training.settings import Training
from regard.training.state import load_state, save_state
from regard.training.strategy import Strategy, StrategyError


class Trainer(Loop):
    """Trains a model on a task into a run folder."""

    def __init__(
        self,
        run: Run,
        task: Task[Any],
        model: Model,
        config: Training,
        batches: Batches,
        strategy: Strategy,
        listen: Listen,
    ) -> None:
        self.run, self.listen, self.place = run, listen, Place(run.path)
        self.metric = config.metric or next(iter(task.metrics))
        if self.metric not in task.metrics:
            known = nearest(self.metric, task.metrics)
            raise ConfigError(f"training.metric: these examples give no {self.metric!r}: {known}")
        super().__init__(task, model, config, batches, strategy)

    def tell(self, latest: Latest) -> None:
        """A record of the latest steps; a loss that is no number is found before it is saved."""
        progress = self.progress
        if progress.first_loss is None:
            progress.first_loss = mean(latest.losses)
        check_losses(self.run, latest.losses, latest.batches, progress.step, progress.first_loss)
        self.listen(
            {
                "event": "step",
                "step": progress.step,
                "planned": self.planned(),
                "epoch": progress.epoch,
                "loss": mean(latest.losses),
                "rate": self.optimisers[-1].param_groups[0]["lr"],
                "tokens_per_second": sum(count for _, count in latest.losses) / max(latest.seconds, 1e-9),
                **({} if self.task.counted == "tokens" else {"counted": self.task.counted}),
                "seconds_per_step": latest.seconds / len(latest.losses),
                "seconds": progress.seconds,
            }
        )

    def judge(self) -> None:
        """Validate and save. A run that was told to end is saved first: a second signal would end it at once."""
        if self.strategy.writes:
            check_weights(self.run, self.model, self.progress.step)
            if self.interrupted:
                self.save()
            self.validate()
            self.save()
        self.progress = self.strategy.agreed(self.progress)

    def validate(self) -> None:
        """On held-out examples, by the averaged weights, which are kept if they are the best so far."""
        progress, task = self.progress, self.task
        random = random_state(self.strategy.device)
        self.model.eval()
        with self.average.applied():
            result = task.validate(self.model)
            probes = task.probes(self.model)
        self.model.train()
        put_random_state(random)
        self.place.check()
        self.run.write_probes(progress.step, probes)
        due = not self.interrupted or progress.step % self.config.validate_every == 0
        if progress.judge(result.metrics, self.metric, task.metrics[self.metric], due):
            weights = merged(self.model, self.average.weights())
            write_tensors(self.run.weights_path, weights, {"step": str(progress.step)})
        self.listen(
            {
                "event": "validation",
                "step": progress.step,
                "metrics": result.metrics,
                "best": progress.best,
                "best_step": progress.best_step,
                "samples": result.samples,
                "seconds": progress.seconds,
            }
        )

    def save(self) -> None:
        self.place.check()
        save_state(self.run, self.model, self.optimisers, self.average, self.progress)
        self.run.forget_checkpoints(self.config.keep_checkpoints)

    def resume(self, step: int) -> None:
        """Go on from a checkpoint of the run as if nothing had happened."""
        self.progress = load_state(self.run, step, self.model, self.optimisers, self.average)

    def explained(self, error: StrategyError) -> TrainingError:
        return TrainingError(f"{error}, at step {self.progress.step + 1}; {last_good(self.run)}")

    def end(self, reason: str) -> None:
        self.listen({"event": "end", "step": self.progress.step, "reason": reason, "seconds": self.progress.seconds})
