"""YAML without its surprises: mappings, lists and texts, from a file that nobody vouches for.

Refused: aliases (a few lines of them make a billion), tags (which ask for objects), a key given twice (readers see one,
the machine takes the other), more than one document, and nesting deeper than any plan.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from locentropy.core.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable

DEEPEST: Final = 3

_PLAIN_TAGS: Final = frozenset(f"tag:yaml.org,2002:{kind}" for kind in ("str", "map", "seq"))

Plain = str | list[Any] | dict[str, Any]


def parsed(raw: bytes) -> dict[str, Any]:
    """The mapping in a YAML text; every scalar is the text it was written as."""
    import yaml

    try:
        text = raw.decode("utf-8")
        _check_shape(yaml.parse(text))
        content = _plain(yaml.compose(text, Loader=yaml.BaseLoader), "")
    except UnicodeDecodeError:
        raise ParameterError("is not UTF-8 text.") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        raise ParameterError(
            f"is not YAML{where}: {getattr(error, 'problem', None) or 'unreadable'}."
        ) from None
    if not isinstance(content, dict):
        raise ParameterError("must be a mapping of keys such as version, mechanism, places, budget.")
    return content


def _check_shape(events: Iterable[Any]) -> None:
    """Refuse aliases and deep nesting while they are read, before anything is built from them."""
    import yaml

    depth = 0
    for event in events:
        if isinstance(event, yaml.AliasEvent):
            raise ParameterError("aliases (*name) are not allowed; write the value again.")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise ParameterError(f"line {event.start_mark.line + 1} is nested deeper than any plan.")


def _plain(node: Any, path: str) -> Plain:
    """A node as mapping, list or text; `path` is the key it is found at."""
    import yaml

    if node is None:
        return ""
    if node.tag not in _PLAIN_TAGS:
        raise ParameterError(f"{path or 'the file'} carries the tag {node.tag[:60]!r}; tags are not allowed.")
    if isinstance(node, yaml.ScalarNode):
        return str(node.value)
    if isinstance(node, yaml.SequenceNode):
        return [_plain(each, path) for each in node.value]
    return _mapping(node, path)


def _mapping(node: Any, path: str) -> dict[str, Any]:
    import yaml

    content: dict[str, Any] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise ParameterError(f"{path or 'the file'} has a key that is not a word.")
        at = f"{path}.{key.value}" if path else str(key.value)
        if key.value in content:
            raise ParameterError(f"{at} is given twice.")
        content[str(key.value)] = _plain(value, at)
    return content
