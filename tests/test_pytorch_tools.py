"""What a researcher does with a model works: hooks, compiling, exporting, functional gradients, many processes.

Models that `regard.build` makes are plain; `fast.plain` makes a quick one plain again.
"""

from __future__ import annotations

import copy
import os
import socket
from contextlib import nullcontext
from dataclasses import replace
from threading import Barrier, Thread
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.fsdp import fully_shard
from torch.export import Dim
from torch.func import functional_call, grad, vmap
from torch.nn.parallel import DistributedDataParallel

from regard.fast import for_use, plain
from regard.models import Encoder, FewShotModel, Model, SourceWriter
from regard.models.base import Writer
from regard.nn.attention.kernel import Kernel
from regard.nn.call.context import Context
from regard.nn.dropout import Dropout
from regard.nn.heads import Head
from regard.nn.positions import Position
from tests.helpers import (
    PRESETS,
    VOCABULARY,
    built,
    decoder,
    encoder,
    encoder_decoder,
    feature_inputs,
    has_stacks,
    tokens,
    training_loss,
)

FAMILIES = ("transformer-tiny", "gpt2", "bert-tiny", "stories-15m", "xlnet-mini")
STACKS = [name for name, config in PRESETS.items() if has_stacks(config)]
OTHERS = [name for name in PRESETS if name not in STACKS]
PACKED = {name for name in OTHERS if isinstance(PRESETS[name].build(), FewShotModel)} | {"han-2016"}
UNROLLED = [name for name in OTHERS if name not in PACKED]  # exported, their length is fixed: PyTorch unrolls them
TOLD_BY_THE_MODEL = {name for name in STACKS if name.startswith("xlnet")}  # whose loss here is that of its head alone
WRITERS = [name for name in STACKS if isinstance(PRESETS[name].build(), Writer)]


def slow_but(names: list[str], quick: tuple[str, ...] = ()) -> Any:
    return pytest.mark.parametrize(
        "name", [pytest.param(name, marks=() if name in quick else pytest.mark.slow) for name in names]
    )


def still(model: Model) -> Model:
    for layer in model.modules():
        if isinstance(layer, Dropout):
            layer.rate = 0.0
    return model


# --- hooks ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["transformer-tiny", "stories-15m", "bert-tiny"])
@pytest.mark.parametrize("quick", [False, True])
def test_forward_hooks_fire_on_kernels_positions_and_heads(name: str, quick: bool) -> None:
    model: Any = built(PRESETS[name])
    model = for_use(model, "cpu") if quick else model
    fired: list[nn.Module] = []
    parts = [part for part in model.modules() if isinstance(part, Kernel | Position | Head)]
    for part in parts:
        part.register_forward_hook(lambda module, given, out: fired.append(module))
    inputs = feature_inputs(model)
    model(*inputs)
    once = [sum(part is one for one in fired) for part in parts]
    assert all(once)
    model(*inputs, labels=inputs[-1])
    assert [sum(part is one for one in fired) for part in parts] == [2 * count for count in once]


def test_what_a_hook_returns_is_what_the_layer_gives() -> None:
    model: Any = built(decoder())
    rows = tokens()
    before = model(rows)
    for part in model.modules():
        if isinstance(part, Kernel):
            part.register_forward_hook(lambda module, given, out: torch.zeros_like(out))
    assert not torch.allclose(model(rows), before)


# --- compiling --------------------------------------------------------------------------------------------------------


@slow_but(STACKS, ("gpt2", "bert-tiny"))
def test_a_training_step_is_compiled_without_a_graph_break(name: str) -> None:
    torch.compiler.reset()
    model: Any = still(built(PRESETS[name])).train()
    inputs = feature_inputs(model)

    def loss(*inputs: Tensor) -> Tensor:
        found: Tensor = model(*inputs, labels=inputs[-1])
        return found

    expected = loss(*inputs)
    expected.backward()
    wanted = [None if p.grad is None else p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    found = torch.compile(loss, backend="aot_eager", fullgraph=True)(*inputs)
    found.backward()
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close([p.grad for p in model.parameters()], wanted, rtol=1e-4, atol=1e-6)


@slow_but(STACKS, ("gpt2", "transformer-tiny"))
def test_what_layers_add_to_the_loss_is_gathered_inside_of_what_is_compiled(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.compiler.reset()
    model: Any = still(built(PRESETS[name])).train()
    weight, plain = next(model.parameters()), Model.whole

    def whole(self: Model, *given: Any, **named: Any) -> Context:
        context = plain(self, *given, **named)
        context.leave("size", weight.square().sum())
        return context

    def loss(*inputs: Tensor) -> Tensor:
        return training_loss(model, inputs)

    inputs = feature_inputs(model)
    alone = loss(*inputs)
    monkeypatch.setattr(Model, "whole", whole)
    expected = loss(*inputs)
    if name not in TOLD_BY_THE_MODEL:
        torch.testing.assert_close(expected - alone, weight.square().sum())
    found = torch.compile(loss, backend="eager", fullgraph=True)(*inputs)
    torch.testing.assert_close(found, expected)
    found.backward()


@slow_but(UNROLLED, ("luong-2015",))
def test_a_training_step_of_recurrent_layers_is_compiled_whole_where_the_compiler_may_take_them(name: str) -> None:
    torch.compiler.reset()
    model: Any = still(built(PRESETS[name])).train()
    inputs = feature_inputs(model, 2, 5)

    def loss(*inputs: Tensor) -> Tensor:
        return training_loss(model, inputs)

    torch.manual_seed(1)  # of dropout between layers, and of what is drawn
    expected = loss(*inputs)
    torch.manual_seed(1)
    with torch._dynamo.config.patch(allow_rnn=True):
        found = torch.compile(loss, backend="eager", fullgraph=True)(*inputs)
    torch.testing.assert_close(found, expected)


@slow_but([name for name in UNROLLED if isinstance(PRESETS[name].build(), Writer)], ("luong-2015",))
@torch.no_grad()
def test_a_decoding_step_of_recurrent_layers_is_compiled_whole_where_the_compiler_may_take_them(name: str) -> None:
    torch.compiler.reset()
    model: Any = built(PRESETS[name])
    source = tokens(2, 5)
    states = [model.begin(model.encode(source)) if isinstance(model, SourceWriter) else model.begin() for _ in range(2)]
    with torch._dynamo.config.patch(allow_rnn=True):
        step = torch.compile(model.step, backend="eager", fullgraph=True)
        for _ in range(3):
            rows = tokens(2, 1)
            torch.testing.assert_close(step(rows, states[0]), model.step(rows, states[1]), rtol=1e-4, atol=1e-5)


def test_dropout_is_compiled_too() -> None:
    torch.compiler.reset()
    model: Any = PRESETS["gpt2"].build().train()
    rows = tokens()
    torch.compile(lambda: model(rows, labels=rows), backend="eager", fullgraph=True)().backward()
    assert all(parameter.grad is not None for parameter in model.parameters())


@slow_but(WRITERS, ("gpt2", "transformer-tiny"))
@torch.no_grad()
def test_a_decoding_step_is_compiled_without_a_graph_break(name: str) -> None:
    torch.compiler.reset()
    model: Any = built(PRESETS[name])
    source = tokens(2, 5)
    states = [model.begin(model.encode(source)) if isinstance(model, SourceWriter) else model.begin() for _ in range(2)]
    step = torch.compile(model.step, backend="eager", fullgraph=True)
    for _ in range(3):
        rows = tokens(2, 1)
        torch.testing.assert_close(step(rows, states[0]), model.step(rows, states[1]), rtol=1e-4, atol=1e-5)


@torch.no_grad()
def test_a_compiled_model_is_still_watched() -> None:
    import regard

    torch.compiler.reset()
    model: Any = built(decoder())
    rows = tokens()
    compiled = torch.compile(model, backend="eager")
    plainly = compiled(rows)
    with regard.watch(model) as seen:
        torch.testing.assert_close(compiled(rows), plainly)
    assert len(seen) == 2


@torch.no_grad()
def test_threads_that_share_a_compiled_model_are_watched_by_themselves() -> None:
    import regard

    torch.compiler.reset()
    model: Any = built(decoder())
    rows = tokens()
    compiled = torch.compile(model, backend="eager")
    plainly = compiled(rows)
    seen, together = [-1, -1], Barrier(2, timeout=60)

    def run(number: int) -> None:
        with torch.no_grad(), regard.watch(model) if number else nullcontext({}) as found:
            together.wait()
            torch.testing.assert_close(compiled(rows), plainly)
            together.wait()
            seen[number] = len(found)

    threads = [Thread(target=run, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [0, 2]


# --- exporting --------------------------------------------------------------------------------------------------------

BATCH, LENGTHS = Dim("batch", min=2, max=64), [Dim(f"length{place}", min=2, max=60) for place in range(2)]


def exported(name: str, shapes: list[dict[int, Dim]], others: tuple[int, int]) -> None:
    model = plain(for_use(built(PRESETS[name]), "cpu"))
    program = torch.export.export(model, feature_inputs(model, 3, 9), dynamic_shapes=tuple(shapes), strict=True)
    inputs = feature_inputs(model, *others)
    with torch.no_grad():
        torch.testing.assert_close(program.module()(*inputs), model(*inputs), rtol=1e-4, atol=1e-5)


@slow_but(STACKS, ("gpt2", "transformer-tiny"))
def test_a_model_of_blocks_is_exported_with_any_batch_and_length(name: str) -> None:
    inputs = len(feature_inputs(built(PRESETS[name])))
    exported(name, [{0: BATCH, 1: LENGTHS[place]} for place in range(inputs)], (2, 7))


@slow_but(UNROLLED)
def test_a_recurrent_model_is_exported_with_any_batch(name: str) -> None:
    inputs = len(feature_inputs(built(PRESETS[name])))
    exported(name, [{0: BATCH} for _ in range(inputs)], (2, 9))


# --- torch.func -------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:There is a performance drop")
@slow_but(STACKS, FAMILIES)
def test_gradients_of_each_example_by_vmap(name: str) -> None:
    model = built(PRESETS[name])
    twin = copy.deepcopy(model)  # functional_call leaves a module that has two names with what it was given
    inputs = feature_inputs(model, 3, 6)

    def loss(parameters: dict[str, Tensor], *one: Tensor) -> Tensor:
        out: Tensor = functional_call(twin, parameters, tuple(row.unsqueeze(0) for row in one))
        return out.square().mean()

    parameters = {name: parameter.detach() for name, parameter in model.named_parameters()}
    each = vmap(grad(loss), in_dims=(None, *[0] * len(inputs)))(parameters, *inputs)
    model(*(row[1:2] for row in inputs)).square().mean().backward()
    for where, parameter in model.named_parameters():
        expected = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
        torch.testing.assert_close(each[where][1], expected, rtol=1e-3, atol=1e-5, msg=where)


# --- many processes ---------------------------------------------------------------------------------------------------

CONFIGS = {"translator": encoder_decoder(), "writer": decoder(), "encoder": encoder()}


def test_labels_give_the_mean_loss_of_the_head() -> None:
    model: Any = built(encoder_decoder())
    source, target, labels = (torch.randint(0, VOCABULARY, (2, 6)) for _ in range(3))
    labels[0, 3:] = -100
    expected = model.head.loss(model.features(source, target), labels, smoothing=0.1)
    torch.testing.assert_close(model(source, target, labels=labels, smoothing=0.1), expected)


def a_process(rank: int, port: int, name: str, sharded: bool) -> None:
    """Half of a batch: afterwards the gradients are those of the whole batch in one process."""
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=2)
    try:
        torch.manual_seed(0)
        config = PRESETS[name]
        if isinstance(config, Encoder):  # masked words alone need no vector of the whole text
            config = replace(config, pool=None)
        model: Any = still(built(config)).train()
        whole: Any = copy.deepcopy(model)
        inputs = feature_inputs(model, 4, 6)
        whole(*inputs, labels=inputs[-1]).backward()
        assert all(one.grad is not None for one in whole.parameters())
        mine = [rows[2 * rank : 2 * rank + 2] for rows in inputs]
        if sharded:
            for stack in (getattr(model, "encoder", None), getattr(model, "decoder", None)):
                for block in [] if stack is None else stack.blocks:
                    fully_shard(block)
            fully_shard(model)
            wrapped = model
        else:
            wrapped = DistributedDataParallel(model)
        for _ in range(2):  # parameters that nothing used are an error of the second step
            wrapped.zero_grad()
            wrapped(*mine, labels=mine[-1]).backward()
        for (where, one), other in zip(model.named_parameters(), whole.parameters(), strict=True):
            found = one.grad.full_tensor() if sharded else one.grad
            torch.testing.assert_close(found, other.grad, rtol=1e-4, atol=1e-5, msg=where)
    finally:
        dist.destroy_process_group()


@pytest.mark.slow
@pytest.mark.skipif(not dist.is_available() or not dist.is_gloo_available(), reason="torch without gloo")
@pytest.mark.parametrize("sharded", [False, True], ids=["DDP", "FSDP2"])
@pytest.mark.parametrize("name", ["transformer-tiny", "gpt2", "bert-tiny", "narang-2021-shared", "luong-2015"])
def test_two_processes_have_the_gradients_of_one(name: str, sharded: bool) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    torch.multiprocessing.spawn(a_process, (port, name, sharded), nprocs=2)
