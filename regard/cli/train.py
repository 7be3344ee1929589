"""`regard train` and `regard pretrain`: from files to a run folder."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.cli.options import add_columns, add_verb, positive, read_changes
from regard.errors import Error
from regard.tasks import OBJECTIVES, TASKS

if TYPE_CHECKING:
    from regard.runfolder import Run
    from regard.training.progress import Progress
    from regard.training.session import Recipe

FILES = {"train": "training", "valid": "validation"}  # options, and what their examples are for
RATES_SHOWN = 15


def add(verbs: Any) -> None:
    train = add_verb(
        verbs,
        "train",
        run,
        help="train a model on your own files",
        description="Train a model for a task, into a new run folder. Progress goes to stderr.",
        epilog="Any field of the recipe is an option: --max-steps 5000, --batch-tokens 2048, --rate 0.002, "
        "--dropout 0.3, --model.decoder.layers 2, --optimiser muon, --tokenizer unigram, --pieces 8000. "
        "`regard list options TASK` lists them all.\n\n"
        "examples:\n"
        "  regard train translate --train train.tsv --valid valid.tsv --run runs/my\n"
        "  regard train translate --train-source a.en --train-target a.de \\\n"
        "      --valid-source v.en --valid-target v.de --run runs/my --seed 2\n"
        "  regard train translate --data phrasebook --run runs/phrases --max-minutes 2\n"
        "  regard train translate --run runs/my --resume\n"
        "  regard train classify --data sst2 --run runs/sst2 --seeds 5\n"
        "  regard train similar --data stsb --from runs/minilm --run runs/near\n",
    )
    add_options(train, TASKS)
    train.add_argument("--from", dest="initial", metavar="DIR", help="begin from the trained model of this run")
    train.add_argument(
        "--frozen",
        action="store_true",
        default=None,
        help="with --from: do not train the weights that come from that run",
    )
    for name in FILES:
        train.add_argument(f"--{name}-source", metavar="FILE", help="the source side of two parallel files")
        train.add_argument(f"--{name}-target", metavar="FILE", help="the target side of two parallel files")
    train.add_argument("--languages", metavar="en-fr", help="the languages of a named data set")
    pretrain = add_verb(
        verbs,
        "pretrain",
        run,
        help="train a model on plain text, for other tasks to begin from",
        description="Train a model on text without labels, into a new run folder. `regard train TASK --from DIR` "
        "begins from it. Progress goes to stderr.",
        epilog="Any field of the recipe is an option: --context 256, --whole-words, --next-sentence, "
        "--max-minutes 15.\n\n"
        "examples:\n  regard pretrain mlm --train text.txt --run runs/bert\n"
        "  regard pretrain mlm --data imdb --preset roberta-mini --tokenizer bpe --lower false --run runs/roberta\n"
        "  regard train classify --train train.tsv --valid valid.tsv --from runs/bert --run runs/reviews\n"
        "  regard pretrain plm --train text.txt --run runs/xlnet\n"
        "  regard pretrain bilm --train text.txt --valid valid.txt --run runs/bilm\n"
        "  regard train tag --train tags.tsv --valid valid.tsv --from runs/bilm --frozen --run runs/tagger\n",
    )
    add_options(pretrain, OBJECTIVES)


def add_options(verb: argparse.ArgumentParser, tasks: Mapping[str, str]) -> None:
    """What every training takes."""
    about = "; ".join(f"{name}: {text}" for name, text in tasks.items())
    verb.add_argument("task", metavar="TASK", help=about)
    verb.add_argument("--run", required=True, metavar="DIR", help="the folder to write; it must not exist")
    verb.add_argument(
        "--resume",
        action="store_true",
        help="continue the run in DIR, or begin it where there is none; the command that began it can be given again; "
        "--max-steps, --max-minutes and --patience change when it ends",
    )
    verb.add_argument(
        "--seeds",
        type=positive,
        metavar="N",
        help="train N runs into DIR/seed-1, DIR/seed-2, …; prints mean and standard deviation",
    )
    verb.add_argument(
        "--find-rate",
        type=positive,
        metavar="STEPS",
        nargs="?",
        const=150,
        help="train for STEPS steps (default 150) with a rising learning rate and print which rate to take",
    )
    verb.add_argument(
        "--preset",
        metavar="NAME",
        default=None,
        help="the model (default: that of the task; see `regard list presets`)",
    )
    verb.add_argument("--config", metavar="FILE", help="a recipe in YAML; options on the command line override it")
    for name, purpose in FILES.items():
        forms = f"{purpose} examples: TSV, JSONL, CSV or plain text, also .gz; several files and folders of plain text"
        verb.add_argument(f"--{name}", metavar="FILE", nargs="+", action="extend", help=forms)
    verb.add_argument("--data", metavar="NAME", help="a named data set instead of files (`regard list data`)")
    add_columns(verb)


def run(options: argparse.Namespace, rest: list[str]) -> None:
    check_verb(options.verb, options.task)
    from regard.runfolder import Run
    from regard.training.session import resume, start
    from regard.training.signals import Interrupted

    if options.find_rate and (options.seeds or options.resume):
        other = "--seeds" if options.seeds else "--resume"
        raise Error(f"--find-rate keeps nothing of what it trains: give it without {other}")
    folder = Run(options.run)
    command = f"regard {options.verb} {options.task} --run {options.run} --resume"
    try:
        if options.resume and folder.exists() and not options.seeds:
            progress = resume(folder, moved_ends(options, rest))
        else:
            recipe = asked(options, rest)
            if options.find_rate:
                print(rates_table(recipe, options.find_rate))
                return
            if options.seeds:
                command = "the same command"
                print(seeds_table(options, recipe))
                return
            progress = start(folder, recipe)
    except KeyboardInterrupt as stop:  # while it trains or at once, beside that
        if folder.exists() and not options.find_rate:
            print(stopped(stop, command))
        if isinstance(stop, Interrupted) and stop.progress is not None and not options.seeds:
            print(reached(folder, stop.progress))
        raise
    print(reached(folder, progress))


def asked(options: argparse.Namespace, rest: list[str]) -> Recipe:
    """The recipe of a new run."""
    from regard.training.recipes import make_recipe

    begin = {"run": options.initial} if getattr(options, "initial", None) else None
    changes = read_changes(rest)
    if getattr(options, "frozen", None):
        changes["frozen"] = True
    try:
        return make_recipe(options.task, data_of(options), options.preset, options.config, changes, begin)
    except Error as error:
        if options.resume and not options.seeds:
            raise Error(f"there is no run in {options.run} to go on with, and none can begin: {error}") from None
        raise


def reached(folder: Run, progress: Progress) -> str:
    """What the weights reached that are kept, which need not be the last ones."""
    from regard.training.records import figure, validated

    metrics = validated(folder.metrics_path, progress.best_step)
    told = "  ".join(f"{name} {figure(value)}" for name, value in metrics.items())
    return f"{folder.path}: best at step {progress.best_step:,} of {progress.step:,}  {told}"


def check_verb(verb: str, task: str) -> None:
    """Tasks that learn from text alone are pre-trained."""
    others = {"train": OBJECTIVES, "pretrain": TASKS}
    if task in others[verb]:
        other = next(name for name in others if name != verb)
        raise Error(f"{task!r} is no task of `regard {verb}`: it is `regard {other} {task}`")


def stopped(stop: KeyboardInterrupt, command: str) -> str:
    """What is said of a run that was told to end."""
    progress: Progress | None = getattr(stop, "progress", None)
    when = "at once; what was saved before is kept" if progress is None else f"at step {progress.step:,}"
    return f"stopped {when}; go on with: {command}"


def moved_ends(options: argparse.Namespace, rest: list[str]) -> dict[str, Any]:
    """The limits that a resumed run is given. All else that decides it cannot be changed, its task neither; options
    that say what its recipe says already are taken, so that a command can be given again."""
    from regard.runfolder import Run
    from regard.training.recipes import task_of
    from regard.training.repeated import first_difference
    from regard.training.session import LIMITS

    run = Run(options.run)
    kind = run.section("task").get("kind")
    if kind != options.task and kind != task_of(options.task).taking(run.section("task")).kind:
        verb = "pretrain" if kind in OBJECTIVES else "train"
        raise Error(f"{options.run} is a run of the task {kind!r}: go on with regard {verb} {kind} --resume")
    changes = read_changes(rest)
    limits = {name: changes.pop(name) for name in LIMITS if name in changes}
    begin, frozen = getattr(options, "initial", None), getattr(options, "frozen", None)
    found = first_difference(run, data_of(options), options.preset, options.config, changes, begin, bool(frozen))
    if found is not None:
        known = ", ".join(map(written, LIMITS))
        raise Error(
            f"option {written(found.option)} cannot be changed when resuming: {found.field} is {found.there} in "
            f"{options.run}, and {found.here} here; leave it out, or choose another folder; {known} can be changed"
        )
    return limits


def data_of(options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """The fields of the task's data that the options name, by part."""
    return {name: fields for name in FILES if (fields := named_data(options, name))}


def written(name: str) -> str:
    """An option as it is typed."""
    return f"--{name.replace('_', '-')}"


def seeds_table(options: argparse.Namespace, recipe: Recipe) -> str:
    """Train with several seeds; what they reached, a line for each metric."""
    from regard.training.records import figure
    from regard.training.seeds import several

    found = several(Path(options.run), recipe, options.seeds)
    lines = [
        f"{name} {figure(one.mean)} ± {figure(one.deviation)}  ({' '.join(map(figure, one.values))})"
        for name, one in found.items()
    ]
    return "\n".join([f"{options.run}: {options.seeds} seeds, mean ± standard deviation", *lines])


def rates_table(recipe: Recipe, steps: int) -> str:
    """What was tried, some lines of it, and the advice."""
    from regard.cli.progress import say
    from regard.training.rates import find_rate

    found = find_rate(recipe, steps, say)
    rows = [
        f"{recipe.training.optimiser.rate * one.factor:9.2e}  {one.smooth:8.3f}"
        for one in found.trials[:: max(len(found.trials) // RATES_SHOWN, 1)]
    ]
    options = " ".join(f"--{name.replace('_', '-')} {rate:.2g}" for name, rate in found.rates.items())
    return "\n".join(["     rate      loss", *rows, f"advised: {options}"])


def named_data(options: argparse.Namespace, name: str) -> dict[str, Any]:
    """The fields of the task's data that the options name."""
    given = {part: getattr(options, f"{name}_{part}", None) for part in ("source", "target")}
    files = getattr(options, name)
    data: dict[str, Any] = {"file": ",".join(files) if files else None, **given}
    if options.data and name == "train" and any(data.values()):
        raise Error(f"--train and --data {options.data} both name examples to train on: leave one of them out")
    if (languages := getattr(options, "languages", None)) and not options.data:
        raise Error(f"--languages {languages} are those of a named data set: give --data, or leave it out")
    if options.data and not any(data.values()):
        data |= {"name": options.data, "languages": languages, "split": name}
    data["columns"] = options.columns
    return {key: value for key, value in data.items() if value is not None}
