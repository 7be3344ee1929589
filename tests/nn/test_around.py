"""What blocks around a call say: to this thread alone, the newest last, nothing once they are over."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from regard.nn.call.around import Around


def test_blocks_are_seen_inside_alone_oldest_first() -> None:
    around: Around[str] = Around()
    assert around.values == ()
    with around.add("one"):
        with around.add("two") as two:
            assert two == "two"
            assert around.values == ("one", "two")
        assert around.values == ("one",)
    assert around.values == ()


def test_another_thread_sees_only_its_own() -> None:
    around: Around[str] = Around()

    def other() -> tuple[tuple[str, ...], tuple[str, ...]]:
        before = around.values
        with around.add("theirs"):
            return before, around.values

    with around.add("mine"), ThreadPoolExecutor(1) as pool:
        assert pool.submit(other).result() == ((), ("theirs",))
        assert around.values == ("mine",)


def test_a_block_that_fails_is_over_too() -> None:
    around: Around[str] = Around()
    try:
        with around.add("one"):
            raise KeyError
    except KeyError:
        pass
    assert around.values == ()
