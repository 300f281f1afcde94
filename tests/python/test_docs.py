"""Documentation that runs: every example in a docstring, and stubs that name what there is."""
import ast
import doctest
import importlib
import inspect
import os
import pathlib
import pkgutil
import tempfile
import unittest

import ocdm
import streams
import tap

NEED_TORCH = {"ocdm.mammoth", "ocdm.avalanche", "ocdm.distributed", "ocdm.torchrl"}  # imported by test_torch
MODULES = [ocdm] + [importlib.import_module(f"ocdm.{entry.name}") for entry in pkgutil.iter_modules(ocdm.__path__)
                    if f"ocdm.{entry.name}" not in NEED_TORCH]


def documented():
    """Public objects with examples: modules, what they export, and the methods of classes, those in C too."""
    for module in MODULES:
        if module.__name__.startswith("ocdm._"):
            continue
        yield module.__name__, module
        for name, value in vars(module).items():
            owner = getattr(value, "__module__", "")
            if name.startswith("_") or not owner.startswith("ocdm") or (owner.startswith("ocdm._") and owner != "ocdm._ocdm"):
                continue
            yield f"{module.__name__}.{name}", value
            for owner in inspect.getmro(value) if inspect.isclass(value) else ():
                if owner.__module__.startswith("ocdm"):
                    yield from ((f"{module.__name__}.{name}.{key}", member) for key, member in vars(owner).items()
                                if not key.startswith("_"))


class Docs(unittest.TestCase):
    def test_every_example_does_what_it_says(self):
        parser, seen, attempted, output = doctest.DocTestParser(), set(), 0, []
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            streams.make_scenes()
            for name, value in documented():
                text = getattr(value, "__doc__", None)
                if not isinstance(text, str) or ">>>" not in text or text in seen:
                    continue
                seen.add(text)
                runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
                attempted += 1
                runner.run(parser.get_doctest(inspect.cleandoc(text), {"ocdm": ocdm}, name, None, 0), out=output.append)
            os.chdir("/")
        self.maxDiff = None
        self.assertEqual("".join(output), "")
        self.assertGreater(attempted, 10)

    def test_every_public_name_is_documented(self):
        for name, value in documented():
            if callable(value) or isinstance(value, property) or inspect.isgetsetdescriptor(value):
                self.assertTrue(getattr(value, "__doc__", None), name)

    def test_the_stubs_name_everything(self):
        trees = {path.stem: ast.parse(path.read_text()) for path in pathlib.Path(ocdm.__file__).parent.glob("*.pyi")}
        classes = {node.name: node for tree in trees.values() for node in tree.body if isinstance(node, ast.ClassDef)}
        for module in MODULES:
            if module.__name__.startswith("ocdm._"):
                continue
            tree = trees["__init__" if module is ocdm else module.__name__[5:]]
            names = {node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
            names |= {alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}
            for name, value in vars(module).items():
                if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__:
                    self.assertIn(name, names, module)
                    if inspect.isclass(value):
                        self.assertEqual(self.public_members(value) - self.stub_members(classes[name], classes), set(), name)

    def public_members(self, value):
        return {key for owner in inspect.getmro(value) if owner.__module__.startswith("ocdm") for key in vars(owner)
                if not key.startswith("_")}

    def stub_members(self, node, classes):
        members = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
        members |= {part.target.id for part in node.body if isinstance(part, ast.AnnAssign)}
        for base in node.bases:
            if isinstance(base, ast.Name) and base.id in classes:
                members |= self.stub_members(classes[base.id], classes)
        return members

    def test_help_names_the_parts(self):
        text = ocdm.__doc__
        for name in ocdm.__all__:
            if inspect.isclass(getattr(ocdm, name)) and name != "Change":
                self.assertIn(name, text)


if __name__ == "__main__":
    tap.main()
