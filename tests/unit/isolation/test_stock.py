"""Things that are made ahead: who gets what, what is dropped, and what a failure does."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from memory_matrix.isolation.stock import Stock
from support.gates import eventually


class Shop:
    """Makes names, and remembers what was made and dropped."""

    def __init__(self) -> None:
        self.made: list[str] = []
        self.dropped: list[str] = []
        self.is_shut = False
        self.is_full = False
        self._numbers = itertools.count()

    def make(self) -> str:
        if self.is_shut:
            raise LookupError("shut")
        self.made.append(f"thing{next(self._numbers)}")
        return self.made[-1]

    def drop(self, name: str) -> None:
        self.dropped.append(name)
        if self.is_full:
            raise LookupError("full")


@pytest.fixture
def shop() -> Shop:
    return Shop()


@pytest.fixture
def stocked(shop: Shop) -> Iterator[Callable[..., Stock]]:
    made: list[Stock] = []

    def stock(ahead: int = 2, keep: int = 1) -> Stock:
        made.append(Stock(shop.make, shop.drop, ahead=ahead, keep=keep, quietly=(LookupError,)))
        return made[-1]

    yield stock
    for each in made:
        each.close()


def test_nothing_is_made_before_the_first_is_taken(
    shop: Shop, stocked: Callable[..., Stock]
) -> None:
    with closing(stocked()) as stock:
        stock.give_back("thing")

    assert shop.made == []


def test_more_is_made_ahead_but_no_more_than_that(
    shop: Shop, stocked: Callable[..., Stock]
) -> None:
    stock = stocked(ahead=2)

    assert stock.take() == "thing0"

    eventually(lambda: len(shop.made) == 3)
    stock.close()
    assert len(shop.made) == 3


def test_nobody_gets_what_another_got(stocked: Callable[..., Stock]) -> None:
    stock = stocked()
    taken: list[str] = []
    threads = [
        threading.Thread(target=lambda: taken.extend(stock.take() for _ in range(20)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(taken) == len(set(taken)) == 80


def test_the_oldest_is_dropped_once_more_are_given_back_than_are_kept(
    shop: Shop, stocked: Callable[..., Stock]
) -> None:
    stock = stocked(keep=1)
    names = [stock.take() for _ in range(3)]

    for name in names:
        stock.give_back(name)

    eventually(lambda: shop.dropped == names[:2])


def test_a_failure_is_raised_where_one_is_wanted_and_tried_again(
    shop: Shop, stocked: Callable[..., Stock]
) -> None:
    stock = stocked()
    shop.is_shut = True

    for _ in range(2):
        with pytest.raises(LookupError, match="shut"):
            stock.take()
    shop.is_shut = False

    assert stock.take() == "thing0"


def test_what_cannot_be_dropped_costs_nothing_else(
    shop: Shop, stocked: Callable[..., Stock]
) -> None:
    shop.is_full = True
    stock = stocked(keep=0)
    name = stock.take()

    stock.give_back(name)

    eventually(lambda: shop.dropped == [name])
    assert stock.take() != name


def test_a_closed_stock_gives_nothing(shop: Shop, stocked: Callable[..., Stock]) -> None:
    stock = stocked()
    stock.close()

    with pytest.raises(RuntimeError, match="closed"):
        stock.take()
    assert shop.made == []
