"""Triton's kernels of classes compile for a GPU, without one; the interpreter takes programs that the compiler refuses."""

import os
import pathlib
import subprocess
import sys

import m4n

PROGRAM = """
import itertools
from triton import compile
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from m4n.torch._kernels import _class_loss

# Numbers of the host are fp32 to a kernel that does not say otherwise.
numbers = {p.name: p.annotation_type or "fp32" for p in _class_loss.params if p.name in ("s", "g")}
for real, absolute, smooth in itertools.product(("fp32", "fp64"), (False, True), (False, True)):
    types = {"V": f"*{real}", "Y": "*i64", "VALUE": f"*{real}", "GRADIENT": f"*{real}"}
    types |= dict.fromkeys(("n", "k", "ignored"), "i32") | numbers
    fixed = {"ABSOLUTE": absolute, "SMOOTH": smooth, "ROWS": 4, "WIDTH": 64, "LOG": 7}
    source = ASTSource(_class_loss, types | dict.fromkeys(fixed, "constexpr"), constexprs=fixed)
    code = compile(source, target=GPUTarget("cuda", 80, 32)).asm["ptx"]
    rounded = [word for word in ("cvt.f64.f32", "div.full.f32") if word in code]
    assert real == "fp32" or not rounded, f"computed in single precision for scores of double: {rounded}"
    print(real, absolute, smooth)
"""


def test_classes(tmp_path):
    path = str(pathlib.Path(m4n.__file__).parents[1])
    environment = {**os.environ, "TRITON_INTERPRET": "0", "TRITON_CACHE_DIR": str(tmp_path), "PYTHONPATH": path}
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 8
