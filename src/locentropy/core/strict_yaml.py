"""Strict YAML: reads files that anybody may have written, and writes the documents of a release.

Plan files and release documents are small mappings of plain values. One loader reads both, and refuses everything in
YAML that is ambiguous or can grow beyond the size of its text: aliases, tags, repeated keys, deep nesting, endless
numbers, several documents. They differ in their scalars only: in a plan every scalar stays the text that was written,
in a release document it has the type that YAML gives it.
"""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

import yaml

from locentropy.core.errors import ParameterError, ReleaseError

if TYPE_CHECKING:
    from pathlib import Path

MAX_DOCUMENT_BYTES: Final = 512 * 1024
"""Largest release document that is read; ours have a few thousand bytes."""

_MAX_DOCUMENT_DEPTH: Final = 20
_MAX_NUMBER_LENGTH: Final = 40
"""Characters. YAML has sexagesimal numbers, 1:30:00, and a long chain of these takes minutes to add up."""
_NUMBERS: Final = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
_LINE_WIDTH: Final = 100


def parse_mapping(raw: bytes, *, typed: bool, max_depth: int) -> dict[Any, Any]:
    """The mapping in a YAML text.

    Parameters
    ----------
    raw
        The text, in UTF-8.
    typed
        Whether scalars get the type that YAML's safe loader gives them; if not, each is the text that was written.
    max_depth
        How deeply mappings and lists may be nested; a mapping of scalars has depth 1.

    Raises
    ------
    ParameterError
        With what is wrong and, where known, the line or the key.
    """
    try:
        loader = _StrictLoader(raw.decode("utf-8"), typed=typed, max_depth=max_depth)
        try:
            content = loader.value(loader.get_single_node(), "")
        finally:
            loader.dispose()
    except UnicodeDecodeError:
        raise ParameterError("is not UTF-8 text.") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        raise ParameterError(
            f"is not YAML{where}: {getattr(error, 'problem', None) or 'unreadable'}."
        ) from None
    if not isinstance(content, dict):
        raise ParameterError("must be a mapping of keys and values at its top.")
    return content


def read_document(path: Path) -> dict[str, Any]:
    """The mapping in a document of a release; raise ReleaseError if there is none."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_DOCUMENT_BYTES + 1)
    except OSError as error:
        raise ReleaseError(f"{path} cannot be read: {error.strerror or type(error).__name__}.") from None
    if len(content) > MAX_DOCUMENT_BYTES:
        raise ReleaseError(
            f"{path} is larger than {MAX_DOCUMENT_BYTES // 1024} kB, which no such file of a release is."
        )
    try:
        return parse_mapping(content, typed=True, max_depth=_MAX_DOCUMENT_DEPTH)
    except ParameterError:
        # Without the reason, which may quote the file: it may hold anything.
        raise ReleaseError(f"{path} is not a YAML file as a release has it.") from None


def dump_document(document: dict[str, Any], heading: str) -> bytes:
    """A document of a release as YAML, below a comment of one or more lines."""
    lines = [line for text in heading.splitlines() for line in wrap(text, _LINE_WIDTH)]
    comment = "".join(f"# {line}\n" for line in lines)
    body = yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_LINE_WIDTH)
    return (comment + body).encode()


class _StrictLoader(yaml.SafeLoader):
    """Refuses aliases, tags and deep nesting while nodes are composed, before anything is built from them."""

    def __init__(self, text: str, *, typed: bool, max_depth: int) -> None:
        super().__init__(text)
        self._typed = typed
        self._max_depth = max_depth
        self._depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent):
            raise ParameterError(f"line {line}: aliases (*name) are not allowed; write the value again.")
        if getattr(event, "tag", None) is not None:
            raise ParameterError(
                f"line {line}: the tag {event.tag[:60]!r} is not allowed; write a plain value."
            )
        nested = isinstance(event, yaml.CollectionStartEvent)
        if nested and self._depth == self._max_depth:
            raise ParameterError(f"line {line} is nested deeper than {self._max_depth} levels.")
        self._depth += nested
        node = super().compose_node(parent, index)
        self._depth -= nested
        return node

    def value(self, node: Any, path: str) -> Any:
        """The mapping, list or scalar of a node; `path` is the key it is found at."""
        if node is None:
            return None
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(each, path) for each in node.value]
        content: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise ParameterError(f"{path or 'the file'} has a key that is not a word.")
            at = f"{path}.{key_node.value}" if path else str(key_node.value)
            key = self._scalar(key_node, at)
            if key in content:
                raise ParameterError(f"{at} is given twice.")
            content[key] = self.value(value_node, at)
        return content

    def _scalar(self, node: Any, path: str) -> Any:
        if not self._typed:
            return str(node.value)
        if node.tag in _NUMBERS and len(node.value) > _MAX_NUMBER_LENGTH:
            raise ParameterError(f"{path} is a number with too many digits.")
        try:
            return self.construct_object(node)
        except (ValueError, TypeError, AttributeError):  # such as a date with a 13th month
            raise ParameterError(f"{path} is not a value that can be read.") from None


class _Dumper(yaml.SafeDumper):
    """Writes every value where it occurs, without anchors and aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _represent_text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    """Texts of several lines as blocks, rather than as one quoted line."""
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _represent_text)
