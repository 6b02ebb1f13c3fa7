# SPDX-License-Identifier: Apache-2.0
"""The reference of the Python module."""
import ast
import copy
import re
import sys


class PythonModule:
    """The names of the Python module, from its source: nothing is imported, so nothing needs to be built."""

    def __init__(self, folder):
        self.nodes = {}
        for path in sorted(folder.glob("*.py")):
            tree = ast.parse(path.read_text())
            if path.name == "__init__.py":
                self.introduction = ast.get_docstring(tree)
                [names] = [ast.literal_eval(node.value) for node in tree.body
                           if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"]
            for node in tree.body:
                if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                    self.nodes.setdefault(node.name, node)
                elif isinstance(node, ast.Assign):
                    for target in node.targets:
                        pairs = [(target, node.value)]
                        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                            pairs = zip(target.elts, node.value.elts)
                        for name, value in pairs:
                            self.nodes.setdefault(ast.unparse(name), value)
        self.names = [name for name in names if not name.startswith("__")]

    @staticmethod
    def documented(node):
        """A text as Markdown: lines such as “name: what it is” are a list."""
        text = ast.get_docstring(node) or ""
        return re.sub(r"(?m)^((?:\w+, )*\w+): (?=\S)", lambda found: f"- `{found[1]}`: ", text)

    @staticmethod
    def signature(node, bound):
        arguments = copy.deepcopy(node.args)
        if bound:
            del (arguments.posonlyargs or arguments.args)[:1]
        text = f"({ast.unparse(arguments)})"
        return text + (f" -> {ast.unparse(node.returns)}" if node.returns else "")

    def member(self, node):
        decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
        if "overload" in decorators or any(decorator.endswith(".setter") for decorator in decorators):
            return ""
        if "property" in decorators or "cached_property" in decorators:
            kind = f":type: {ast.unparse(node.returns)}\n" if node.returns else ""
            return f"```{{py:property}} {node.name}\n{kind}\n{self.documented(node)}\n```\n\n"
        options = "".join(f":{word}:\n" for word in ("classmethod", "staticmethod") if word in decorators)
        options += ":async:\n" if isinstance(node, ast.AsyncFunctionDef) else ""
        signature = self.signature(node, "staticmethod" not in decorators)
        return f"```{{py:method}} {node.name}{signature}\n{options}\n{self.documented(node)}\n```\n\n"

    def described(self, name):
        node = self.nodes.get(name)
        if node is None:
            sys.exit(f"The Python module has no {name}.")
        if isinstance(node, ast.Name):
            return f"````{{py:data}} {name}\n\nAnother name of {{py:obj}}`~iconcache.{node.id}`.\n````\n\n"
        if isinstance(node, ast.expr):
            return f"````{{py:data}} {name}\n:value: {ast.unparse(node)}\n````\n\n"
        if not isinstance(node, ast.ClassDef):
            return f"````{{py:function}} {name}{self.signature(node, False)}\n\n{self.documented(node)}\n````\n\n"
        functions = {part.name: part for part in node.body if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef))}
        fields = [part for part in node.body if isinstance(part, ast.AnnAssign)]
        signature = ""
        if "__init__" in functions:
            signature = self.signature(functions["__init__"], True).removesuffix(" -> None")
        bases = [ast.unparse(base) for base in node.bases if not ast.unparse(base).startswith("_")]
        kind = "exception" if any(base.endswith(("Error", "Exception")) for base in bases) else "class"
        text = f"````{{py:{kind}}} {name}{'' if kind == 'exception' else signature}\n\n"
        text += f"Bases: {', '.join(f'`{base}`' for base in bases)}\n\n" if bases else ""
        text += self.documented(node) + "\n\n"
        for field in fields:
            member = ast.unparse(field.target)
            if not member.startswith("_"):
                text += f"```{{py:attribute}} {member}\n:type: {ast.unparse(field.annotation)}\n```\n\n"
        for member, function in functions.items():
            if not member.startswith("_"):
                text += self.member(function)
        return text + "````\n\n"

    def page(self):
        text = f"# Python module iconcache\n\n```{{highlight}} python\n```\n\n{self.introduction}\n\n```{{py:module}} iconcache\n```\n\n"
        return text + "".join(f"## {name}\n\n{self.described(name)}" for name in self.names)
