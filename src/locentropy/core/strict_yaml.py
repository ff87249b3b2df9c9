"""Strict YAML: documents that anybody may have written, read without trusting them."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

import yaml

from locentropy.core.errors import ParameterError, ReleaseError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

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
        raise ParameterError("must be a mapping of keys such as version, mechanism, locations, budget.")
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


LARGEST: Final = 512 * 1024
"""Bytes that a document may have: ours have a few thousand."""

_WIDTH: Final = 100
_LONGEST_NUMBER: Final = 40
"""Characters: YAML also counts in sixties, 1:30:00, and a long chain of these takes minutes to add up."""


class _Dumper(yaml.SafeDumper):
    """Writes everything where it stands; anchors and aliases are for machines."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    """Paragraphs as paragraphs, not as one line with quotes around it."""
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)


class _Loader(yaml.SafeLoader):
    """Refuses what could mean two things, or grow beyond its size: repeated keys, aliases, tags and endless numbers."""

    def compose_node(self, parent: Any, index: int) -> Any:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent) or getattr(event, "tag", None) is not None:
            raise yaml.YAMLError("aliases and tags are not allowed")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        mapping = super().construct_mapping(node, deep=deep)
        if len(mapping) != len(node.value):
            raise yaml.YAMLError("a key is repeated")
        return mapping

    def construct_yaml_int(self, node: Any) -> int:
        return super().construct_yaml_int(_short(node))

    def construct_yaml_float(self, node: Any) -> float:
        return super().construct_yaml_float(_short(node))


def _short(node: Any) -> Any:
    if len(node.value) > _LONGEST_NUMBER:
        raise yaml.YAMLError("a number has too many digits")
    return node


_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_yaml_int)
_Loader.add_constructor("tag:yaml.org,2002:float", _Loader.construct_yaml_float)


def written(document: dict[str, Any], heading: str) -> bytes:
    """A document as YAML below a comment of one or more lines."""
    lines = [line for text in heading.splitlines() for line in wrap(text, _WIDTH)]
    comment = "".join(f"# {line}\n" for line in lines)
    body = yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDTH)
    return (comment + body).encode()


def read_document(path: Path) -> dict[str, Any]:
    """The mapping in a YAML file, or a ReleaseError that says why there is none."""
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        raise ReleaseError(f"{path} cannot be read: {error.strerror or type(error).__name__}.") from None
    if len(content) > LARGEST:
        raise ReleaseError(f"{path} is larger than {LARGEST // 1024} kB, which no such file of a release is.")
    try:
        document = yaml.load(content.decode(), Loader=_Loader)  # noqa: S506  # a safe loader, only stricter
    except (yaml.YAMLError, ValueError, TypeError, AttributeError, RecursionError):
        raise ReleaseError(f"{path} is not a YAML file as a release has it.") from None
    if not isinstance(document, dict):
        raise ReleaseError(f"{path} must hold names and values at its top.")
    return document
