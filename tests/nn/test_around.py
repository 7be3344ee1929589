"""What blocks around a call say: to this thread alone, the newest last, nothing once they are over."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from regard.nn.call.around import Around


def test_blocks_are_seen_inside_alone_oldest_first() -> None:
    around: Around[str] = Around("tests")
    assert around.get() == ()
    with around.add("one"):
        with around.add("two") as two:
            assert two == "two"
            assert around.get() == ("one", "two")
        assert around.get() == ("one",)
    assert around.get() == ()


def test_another_thread_sees_only_its_own() -> None:
    around: Around[str] = Around("tests")

    def other() -> tuple[tuple[str, ...], tuple[str, ...]]:
        before = around.get()
        with around.add("theirs"):
            return before, around.get()

    with around.add("mine"), ThreadPoolExecutor(1) as pool:
        assert pool.submit(other).result() == ((), ("theirs",))
        assert around.get() == ("mine",)


def test_a_block_that_fails_is_over_too() -> None:
    around: Around[str] = Around("tests")
    try:
        with around.add("one"):
            raise KeyError
    except KeyError:
        pass
    assert around.get() == ()
    assert around.open == 0
