"""Tests of m4n.torch. Those marked cuda need a GPU; all others run on the CPU, Triton's kernels by its interpreter."""

import os

import pytest

try:
    import torch
except ImportError:
    pytest.skip("torch is not installed; make test-torch installs it", allow_module_level=True)

if not torch.cuda.is_available():
    os.environ.setdefault("TRITON_INTERPRET", "1")
torch.set_num_threads(1)


def pytest_collection_modifyitems(items):
    if torch.cuda.is_available():
        return
    for item in items:
        if item.get_closest_marker("cuda"):
            item.add_marker(pytest.mark.skip(reason="needs a GPU"))


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.cuda)])
def device(request):
    return torch.device(request.param)
