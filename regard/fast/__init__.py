"""Speed, beside the readable parts: layers that give the same numbers sooner.

The parts in `regard.nn` are written as a textbook would. A model that is about to be trained or used is made quick:

    fast.quicken(model)   each layer that has a quicker twin becomes it, in place
    fast.for_use(model)   the same for a model that is only used: in eval mode and on the best device
    fast.pack(model, 8)   before a search that passes 8 rows at a time through the matrices, many times over
    fast.plain(model)     back to the plain parts, for `torch.compile`, `torch.export` or `torch.func`

A twin is a subclass of the plain layer with the same parameters under the same names. So a quick model is trained,
saved, loaded, copied and moved like the plain one, and hooks on its layers still fire.
"""

from __future__ import annotations

from regard.fast.device import choose_device, for_use
from regard.fast.products import pack
from regard.fast.twins import plain, quicken

__all__ = ["choose_device", "for_use", "pack", "plain", "quicken"]
