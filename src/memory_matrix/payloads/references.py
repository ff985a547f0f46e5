"""Values that hold one object twice, or themselves."""

from typing import Any, Dict, List, Optional


class Node:
    """A step of a plan; `parent` points back."""

    def __init__(self, name: str, parent: "Optional[Node]" = None) -> None:
        self.name = name
        self.parent = parent
        self.children: List[Node] = []


def payload_shared_list() -> Any:
    """One list in two places: a change through one is seen through the other."""
    tools = ["search", "book"]
    return {"planner": tools, "executor": tools}


def probe_shared_list(value: Any) -> Any:
    """Say what both places hold, and whether it is one object."""
    return [value["planner"], value["executor"], value["planner"] is value["executor"]]


def payload_shared_object() -> Any:
    """One object in two places."""
    user = Node("user")
    return [user, user]


def probe_shared_object(value: Any) -> Any:
    """Say what both places hold, and whether it is one object."""
    return [value[0].name, value[1].name, value[0] is value[1]]


def payload_cycle_list() -> Any:
    """A list that holds itself."""
    value: List[Any] = ["root"]
    value.append(value)
    return value


def probe_cycle_list(value: Any) -> Any:
    """Say whether the list still holds itself."""
    return [value[0], len(value), value[1] is value]


def payload_cycle_dict() -> Any:
    """Two dicts that hold each other."""
    parent: Dict[str, Any] = {"name": "parent"}
    parent["child"] = {"name": "child", "parent": parent}
    return parent


def probe_cycle_dict(value: Any) -> Any:
    """Say whether the way to the child and back ends where it began."""
    return [value["name"], value["child"]["name"], value["child"]["parent"] is value]


def payload_cycle_tuple() -> Any:
    """A tuple that holds a list that holds the tuple."""
    inner: List[Any] = []
    value = ("root", inner)
    inner.append(value)
    return value


def probe_cycle_tuple(value: Any) -> Any:
    """Say whether the way to the list and back ends where it began."""
    return [type(value).__name__, value[0], value[1][0] is value]


def payload_cycle_objects() -> Any:
    """A tree of objects whose children point back to their parent."""
    root = Node("plan")
    root.children = [Node("search", root), Node("book", root)]
    return root


def probe_cycle_objects(value: Any) -> Any:
    """Say what the children are called, and whether each points back to this very object."""
    return [value.name] + [[child.name, child.parent is value] for child in value.children]
