"""A store on a client closes its own client, once, and never the caller's."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from memory_matrix.stores.adapting.opening import AsyncOnClient, OnClient, Opened
from memory_matrix.stores.protocol import NotOffered, StoreEnv

ENV = StoreEnv()


class Client:
    def __init__(self) -> None:
        self.closings = 0


class Plain(OnClient):
    def client(self, env: StoreEnv) -> Client:
        return Client()

    def close_client(self, client: Client) -> None:
        client.closings += 1


class Awaited(AsyncOnClient):
    def client(self, env: StoreEnv) -> Client:
        return Client()

    async def close_client(self, client: Client) -> None:
        client.closings += 1


class Failing(Plain):
    def __init__(self) -> None:
        self.made: list[Client] = []

    def open_with(self, env: StoreEnv, client: Any) -> Opened:
        self.made.append(client)
        raise LookupError("no table")


def test_its_own_client_is_closed_with_a_store() -> None:
    store = Plain().open(ENV)
    assert store.client.closings == 0
    Plain().close(store)
    assert store.client.closings == 1


def test_a_callers_client_is_left_open() -> None:
    client = Client()
    Plain().close(Plain().open_with(ENV, client))
    assert client.closings == 0


def test_a_second_close_is_not_offered_and_closes_nothing() -> None:
    store = Plain().open(ENV)
    Plain().close(store)
    with pytest.raises(NotOffered, match="closes no client"):
        Plain().close(store)
    assert store.client.closings == 1


def test_the_client_of_a_store_that_cannot_be_made_is_closed() -> None:
    adapter = Failing()
    with pytest.raises(LookupError, match="no table"):
        adapter.open(ENV)
    assert [each.closings for each in adapter.made] == [1]


def test_the_same_holds_where_closing_is_awaited() -> None:
    async def closed() -> list[int]:
        own, given = Awaited().open(ENV), Awaited().open_with(ENV, Client())
        for store in (own, given):
            await Awaited().close(store)
            with pytest.raises(NotOffered, match="closes no client"):
                await Awaited().close(store)
        return [own.client.closings, given.client.closings]

    assert asyncio.run(closed()) == [1, 0]
