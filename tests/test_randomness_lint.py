"""No randomness outside the named modules: a lint over the syntax tree of the product and of the laboratory.

Noise that protects people comes from privacy/noise.py alone, which alone may load OpenDP and knows no seed.
Seeded generators belong to made-up data and to simulated noise. Random identifiers, which protect nothing, have their own list.
The lint is about slips, not about an adversary who writes to the repository; it is itself tested below.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "locentropy"
LAB = ROOT / "lab" / "src" / "locentropy_lab"

ALLOWED = {
    "opendp": ("privacy/noise.py",),
    "generator": ("datasets/", "evaluation/simulated_noise.py", "lab/"),
    "identifier": ("ledger/entries.py",),
}
"""Which files, or folders, may use what; paths are those inside the package, of the laboratory after `lab/`."""

SEEDLESS = ("privacy/noise.py",)
"""Files in which no name may even speak of a seed."""

SOURCES = {
    "opendp": "opendp",
    "random": "generator",
    "numpy.random": "generator",
    "scipy.stats": "generator",
    "scipy.stats.qmc": "generator",
    "secrets": "identifier",
    "os.urandom": "identifier",
    "os.getrandom": "identifier",
    "uuid.uuid1": "identifier",
    "uuid.uuid4": "identifier",
    "ibis.random": "generator",
    "ibis.uuid": "identifier",
    "eval": "generator",
    "exec": "generator",
}
"""Dotted names, each standing for all that is below it; code in strings could hide any of them."""

NAMES = {
    "rvs": "generator",
    "default_rng": "generator",
    "RandomState": "generator",
    "sample": "generator",
    "SystemRandom": "identifier",
    "urandom": "identifier",
    "getrandom": "identifier",
    "uuid1": "identifier",
    "uuid4": "identifier",
}
"""Names that mean randomness on whatever object they are found."""

IMPORTERS = {"__import__", "import_module"}


def kind_of(dotted: str) -> str | None:
    """What a dotted name gives access to: randomness of some kind, or nothing of the sort."""
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        if (kind := SOURCES.get(".".join(parts[:length]))) is not None:
            return kind
    return NAMES.get(parts[-1])


class Finder(ast.NodeVisitor):
    """Collects (line, kind, what) for every use of randomness, following aliases made by imports."""

    def __init__(self) -> None:
        self.found: list[tuple[int, str, str]] = []
        self.alias: dict[str, str] = {}

    def note(self, node: ast.AST, dotted: str | None) -> None:
        if dotted and (kind := kind_of(dotted)):
            self.found.append((getattr(node, "lineno", 0), kind, dotted))

    def visit_Import(self, node: ast.Import) -> None:
        for name in node.names:
            self.note(node, name.name)
            self.alias[name.asname or name.name.split(".")[0]] = (
                name.name if name.asname else name.name.split(".")[0]
            )

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.level:  # our own package
            return
        for name in node.names:
            dotted = f"{node.module}.{name.name}"
            if name.name == "*" and node.module in {"numpy", "os", "uuid", "scipy"}:
                self.found.append((node.lineno, "generator", f"from {node.module} import *"))
            self.note(node, node.module)
            self.note(node, dotted)
            self.alias[name.asname or name.name] = dotted

    def visit_Assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            self.rename(target, node.value)
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.rename(node.target, node.value)
        self.generic_visit(node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.rename(node.target, node.value)
        self.generic_visit(node)

    def rename(self, target: ast.expr, value: ast.expr | None) -> None:
        """Follow np = numpy and r = n.random."""
        dotted = self.dotted(value) if value else None
        if dotted and isinstance(target, ast.Name):
            self.alias[target.id] = dotted

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.note(node, self.dotted(node) or f"?.{node.attr}")
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        self.note(node, self.alias.get(node.id))

    def visit_Call(self, node: ast.Call) -> None:
        self.note(node, self.dotted(node))
        if isinstance(node.func, ast.Name):  # names that were not imported: eval, exec
            self.note(node, self.dotted(node.func))
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.note(node, self.dotted(node))
        self.generic_visit(node)

    def dotted(self, node: ast.expr) -> str | None:
        """The dotted name an expression stands for, as far as imports and constants tell."""
        match node:
            case ast.Name(id=name):
                return self.alias.get(name, name)
            case ast.Attribute(value=value, attr=attr):
                base = self.dotted(value)
                return f"{base}.{attr}" if base else f"?.{attr}"
            case ast.Call(func=function, args=[ast.Constant(value=str(name)), *_]) if self.loads(function):
                return name
            case ast.Call(func=ast.Name(id="getattr"), args=[value, ast.Constant(value=str(name)), *_]):
                return f"{self.dotted(value) or '?'}.{name}"
            case ast.Subscript(value=value, slice=ast.Constant(value=str(name))):
                base = self.dotted(value) or ""
                if base == "sys.modules":
                    return name
                if base.endswith(".__dict__"):
                    return f"{base.removesuffix('.__dict__')}.{name}"
                return None
        return None

    def loads(self, function: ast.expr) -> bool:
        return (self.dotted(function) or "").split(".")[-1] in IMPORTERS


def randomness(code: str) -> list[tuple[int, str, str]]:
    """Every use of randomness in a piece of code: line, kind and name."""
    finder = Finder()
    tree = ast.parse(code)
    # Imports first, wherever they stand: a function may use what is imported further down.
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            finder.visit(node)
    finder.found.clear()
    finder.visit(tree)
    return sorted(set(finder.found))


def seeds(code: str) -> list[str]:
    """Every name in a piece of code that speaks of a seed; words in docstrings do not count."""
    spoken = []
    for node in ast.walk(ast.parse(code)):
        for field in ("id", "attr", "arg", "name", "asname"):
            name = getattr(node, field, None)
            if isinstance(name, str) and any(
                word in name.lower() for word in ("seed", "rng", "random_state")
            ):
                spoken.append(name)
    return spoken


def allowed(path: str, kind: str) -> bool:
    return any(path == place or (place.endswith("/") and path.startswith(place)) for place in ALLOWED[kind])


def offences(path: str, code: str) -> list[str]:
    """What a file of the package may not contain."""
    found = [
        f"{path}:{line}: {name} ({kind}) is not for this module"
        for line, kind, name in randomness(code)
        if not allowed(path, kind)
    ]
    if path in SEEDLESS:
        found += [f"{path}: {name} speaks of a seed" for name in seeds(code)]
    return found


def test_the_package_keeps_the_rule() -> None:
    files = {file.relative_to(PACKAGE).as_posix(): file for file in sorted(PACKAGE.rglob("*.py"))}
    files |= {f"lab/{file.relative_to(LAB).as_posix()}": file for file in sorted(LAB.rglob("*.py"))}
    assert {"privacy/noise.py", "evaluation/simulated_noise.py", "lab/zipf.py"} <= files.keys()
    found = []
    for path, file in files.items():
        found += offences(path, file.read_text(encoding="utf-8"))
    assert found == []


def test_noise_does_use_opendp() -> None:
    code = (PACKAGE / "privacy" / "noise.py").read_text(encoding="utf-8")
    assert {kind for _, kind, _ in randomness(code)} == {"opendp"}


REJECTED = [
    "import random",
    "import random as r",
    "from random import random",
    "import numpy as n\nn.random.normal()",
    "import numpy as n\nx = n.random",
    "import numpy\nnumpy.random.default_rng()",
    "import numpy.random",
    "import numpy.random as nr",
    "from numpy import random as r",
    "from numpy import random",
    "from numpy.random import default_rng",
    "from numpy.random import Generator as G, PCG64",
    "from numpy import *",
    "import numpy as np\ngenerate = getattr(np, 'random')",
    "import numpy as np\ngetattr(np.random, 'normal')(3)",
    "import numpy as np\nnp.__dict__['random']",
    "__import__('random')",
    "__import__('numpy').random.rand()",
    "__import__('numpy.random')",
    "import importlib\nimportlib.import_module('random')",
    "from importlib import import_module as load\nload('numpy.random')",
    "import importlib as i\nm = i.import_module('numpy')\nm.random.rand()",
    "import sys\nsys.modules['random'].random()",
    "import numpy\nalias = numpy\nalias.random.rand()",
    "def f():\n    return n.random.rand()\nimport numpy as n",
    "from scipy.stats import laplace\nlaplace.rvs(5)",
    "import scipy.stats as s\ns.norm.cdf(0)",
    "import scipy\nscipy.stats.norm",
    "import numpy\nalias: object = numpy\nalias.random.rand()",
    "import numpy\nprint((alias := numpy).zeros(3), alias.random.rand())",
    "exec('import random')",
    "eval(code)",
    "import ibis\nt.mutate(r=ibis.random())",
    "def f(frame):\n    return frame.sample(10)",
    "def f(distribution):\n    return distribution.rvs(10)",
    "def f(module):\n    return module.default_rng(0)",
    "def f(thing):\n    return getattr(thing, 'rvs')(3)",
    "import secrets",
    "from secrets import token_hex",
    "import os\nos.urandom(8)",
    "from os import urandom as u\nu(8)",
    "import os as system\nsystem.getrandom(8)",
    "from random import SystemRandom",
    "import uuid\nuuid.uuid4()",
    "from uuid import uuid4 as new\nnew()",
    "import opendp.prelude as dp",
    "import opendp",
    "from opendp import measurements",
    "def f():\n    import opendp.prelude as dp\n    return dp",
    "import importlib\nimportlib.import_module('opendp.prelude')",
    "try:\n    pass\nfinally:\n    import random",
    "class A:\n    from numpy import random",
    "f = lambda: __import__('secrets').token_bytes()",
]

HARMLESS = [
    "import numpy as np\nnp.zeros(3)",
    "import numpy as np\nfrom numpy.typing import NDArray",
    "'''This speaks of numpy.random and of import random.'''",
    "random = 3\nprint(random)",
    "def f(randomised): return randomised",
    "from scipy.special import gammaincc\nimport scipy.optimize",
    "import os\nos.cpu_count()",
    "import uuid\nuuid.UUID(int=3)",
    "from locentropy.privacy.noise import OpenDPNoise\nOpenDPNoise().laplace(values, 3.0)",
    "from .noise import OpenDPNoise",
    "getattr(thing, 'entropy')",
    "import importlib\nimportlib.import_module('duckdb')",
    "x = {'random': 1}['random']",
    "opendp_version = 3",
]


@pytest.mark.parametrize("code", REJECTED)
def test_planted_randomness_is_rejected(code: str) -> None:
    assert offences("mechanisms/paper/limit.py", code)


@pytest.mark.parametrize("code", HARMLESS)
def test_harmless_code_passes(code: str) -> None:
    assert offences("mechanisms/paper/limit.py", code) == []


def test_the_list_is_by_name() -> None:
    generator = "import numpy as np\nnp.random.default_rng(3)"
    assert offences("lab/zipf.py", generator) == []
    assert offences("evaluation/simulated_noise.py", generator) == []
    assert offences("evaluation/other_noise.py", generator)
    assert offences("evaluation/compare.py", generator)
    assert offences("datasets_of_mine.py", generator)
    assert offences("privacy/noise.py", generator)
    assert offences("lab/zipf.py", "import opendp.prelude")
    assert offences("privacy/noise.py", "import opendp.prelude") == []
    assert offences("privacy/smooth.py", "import opendp.prelude")
    assert offences("ledger/entries.py", "import uuid\nuuid.uuid4()") == []
    assert offences("ledger/entries.py", generator)


@pytest.mark.parametrize(
    "code",
    [
        "def laplace(values, seed=None): ...",
        "self.seed = 3",
        "draw(seed=3)",
        "from x import set_seed",
        "import x as rng",
        "class Seeded: ...",
        "random_state = 1",
    ],
)
def test_no_seed_in_the_noise(code: str) -> None:
    assert offences("privacy/noise.py", code)


def test_words_about_seeds_are_no_seeds() -> None:
    assert offences("privacy/noise.py", "'''Never seeded.'''\nx = 1  # no seed") == []
