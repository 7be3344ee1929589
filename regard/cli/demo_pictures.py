"""`regard demo --pictures`: a captioner of drawn scenes, trained and shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

TRAINING_SCENES = 10_000
TEST_SCENES, SCENES_SHOWN = 200, 4  # of each split
SPLITS = {"test": "drawn anew", "recombined": "in combinations of colour and shape never seen"}


def recipe() -> Any:
    """A small Transformer over convolutions that learns scenes of 64 pixels: 160 s of one core, all of the demo."""
    from regard.data.examples import CaptionData
    from regard.tasks.captioning.task import Captioning
    from regard.training.averaging import Exponential
    from regard.training.optimisers import MuonAndAdamW
    from regard.training.schedules import StableDecay
    from regard.training.session import Recipe
    from regard.training.settings import Training
    from regard.zoo import get

    data = CaptionData(name="scenes", languages="64", split="train", count=TRAINING_SCENES)
    valid = CaptionData(name="scenes", languages="64", split="valid", count=TEST_SCENES)
    training = Training(
        batch_tokens=4096,
        max_steps=450,
        validate_every=150,
        optimiser=MuonAndAdamW(rate=2.4e-3, matrix_rate=8e-3),
        schedule=StableDecay(warmup=50, decay=0.8),
        average=Exponential(decay=0.98),
    )
    return Recipe(Captioning(train=data, valid=valid), get("captioner"), training)


def show(folder: str, command: str) -> None:
    """What it writes about scenes that it has not seen, and how good that is."""
    from regard.data.catalogue import open_data
    from regard.look.page import page
    from regard.runfolder import write_text
    from regard.tasks.base import load_for
    from regard.tasks.captioning.task import scores_of

    captioner = load_for("caption", folder)
    for split, about in SPLITS.items():
        scenes = list(open_data("scenes", "64", split, TEST_SCENES, "captions"))
        found = captioner([scene.picture for scene in scenes], beam=3)
        scores = scores_of(scenes, found).metrics()
        print(f"\nscenes {about}: CIDEr-D {scores['cider']:.2f}  BLEU-4 {scores['bleu_4']:.1f}\n")
        for scene, text in list(zip(scenes, found, strict=True))[:SCENES_SHOWN]:
            print(f"  {scene.picture.name}: {scene.captions[0]}\n  → {text}\n")
    shown = next(iter(open_data("scenes", "64", "test", None, "captions"))).picture
    write_text(Path(folder) / "look.html", page(captioner.look(shown, beam=3)))
    print(f"Where it looked:         open {folder}/look.html in a browser, word by word")
    print(f"The report:              open {folder}/report.html in a browser")
    print(f"Try a picture of yours:  {command} caption {folder} PICTURE (it knows drawn shapes alone)")
    print(f"Train on your own:       {command} train caption --train train.tsv --valid valid.tsv --run runs/my")
