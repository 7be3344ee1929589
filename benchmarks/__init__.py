"""This project beside other toolkits, as ratios of one run.

`python -m benchmarks` one training step, `.startup` waiting, `.decoding` translating, `.epoch` training from files,
`.quality` the time to a score, `.embedding` vectors of texts, `.finetuning` and `.flow` what a trained encoder learns.
`.before_after` sets an old commit of this project beside the present one.
"""
