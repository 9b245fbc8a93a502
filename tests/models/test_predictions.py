"""Answers by another attention: the right layers, the right numbers, and nothing left in the model."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from explorer.answers import ATTENTIONS, Exchange
from explorer.errors import GramscopeError, Stopped
from explorer.exchanged import attention_of, contaminated, only_in, softmax
from explorer.maths.contamination import contaminate
from explorer.models.attention_call import AttentionCall
from explorer.models.base import never
from explorer.models.digits import DigitsSource, sample_source
from explorer.models.huggingface import HuggingFaceSource
from explorer.models.state_dict import open_state_dict
from explorer.params import Input, Params
from explorer.predictions import Predictor
from explorer.settings import resource
from tests.models.test_attention_calls import CPU, IDS, hooks, opened
from tests.sources import FixedSource

Tiny = Callable[[str], Path]
ALL = (0, 1, 2)


def digits(variant: str) -> DigitsSource:
    source = open_state_dict(resource(f"digits/digits-{variant}-0.safetensors"))
    assert isinstance(source, DigitsSource)
    return source


def input_of(source: HuggingFaceSource) -> Input:
    return Input() if source.kind == "image" else IDS


@torch.no_grad()
def logits(source: HuggingFaceSource) -> Tensor:
    return source.run(source.prepare(3, input_of(source), CPU), CPU, whole=True).logits


@pytest.mark.parametrize("name", ["bert", "gpt2", "llama", "vit"])
def test_softmax_by_the_same_call_leaves_every_bit(name: str, tiny: Tiny) -> None:
    source = opened(tiny(name))
    own = logits(source)
    with source.attending(only_in(ALL, softmax, never), ALL):
        assert torch.equal(logits(source), own)


@pytest.mark.parametrize("variant", ["softmax", "symmetric"])
def test_softmax_leaves_every_bit_of_a_digit_model(variant: str) -> None:
    source = digits(variant)
    values = source.values(Input(index=3))
    own = source.logits(values, CPU)
    layers = range(source.layers)
    with source.attending(only_in(tuple(layers), softmax, never), layers):
        assert torch.equal(source.logits(values, CPU), own)


@contextmanager
def calls_of(source: HuggingFaceSource) -> Iterator[list[AttentionCall]]:
    """Collect what the layers of a model are asked."""
    seen: list[AttentionCall] = []

    def watch(call: AttentionCall) -> Tensor:
        seen.append(replace(call, outer=None))
        return call.proceed()

    with source.attending(watch, range(source.layers)):
        logits(source) if source.kind == "image" else source.capture(ALL, IDS, CPU)
        yield seen


@pytest.mark.parametrize("name", ["bert", "gpt2", "llama", "mistral", "gemma2", "opt", "t5"])
@pytest.mark.parametrize("queries", ["symmetric", "asymmetric"])
def test_one_iteration_at_a_huge_penalty_is_plain_attention(name: str, queries: Any, tiny: Tiny) -> None:
    """Nothing is sparse then: C = K, and L is the attention of K, or of Q, over K."""
    rpc = attention_of(Exchange("rpc", ALL), Params(lam=1e9, iterations=1, queries=queries), never)
    plain = attention_of(Exchange("symmetric", ALL), Params(), never) if queries == "symmetric" else softmax
    with calls_of(opened(tiny(name))) as calls:
        for call in calls[-2:]:
            expected = plain(call)
            assert rpc(call).shape == expected.shape == call.q.shape
            torch.testing.assert_close(rpc(call), expected, atol=2e-5, rtol=2e-5)


def test_symmetric_attention_is_its_formula_with_mask_and_shared_keys(tiny: Tiny) -> None:
    attend = attention_of(Exchange("symmetric", ALL), Params(), never)
    with calls_of(opened(tiny("llama"))) as calls:
        call = calls[0]
        assert call.k.shape[1] == 2 and call.q.shape[1] == 4
        output = attend(call)
        for head in range(4):
            k, v = call.k[0, head // 2].double(), call.v[0, head // 2].double()
            scores = (k @ k.T * call.scale).masked_fill(
                ~torch.ones(12, 12, dtype=torch.bool).tril(), -math.inf
            )
            torch.testing.assert_close(output[0, head].double(), scores.softmax(-1) @ v, atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize(("name", "why"), [("t5", "position bias"), ("gemma2", "caps")])
def test_scaled_attention_says_where_it_is_not_defined(name: str, why: str, tiny: Tiny) -> None:
    source = opened(tiny(name))
    with pytest.raises(GramscopeError, match=why):
        list(Predictor(source).predict(Params(input=IDS), Exchange("scaled", (1,))))


@pytest.mark.parametrize("kind", ["sparse", "tokens", "gaussian", "replace"])
def test_each_head_is_contaminated_as_by_itself(kind: Any) -> None:
    draw = torch.Generator().manual_seed(1)
    q, k, v = (torch.randn(1, 3, 10, 4, generator=draw) for _ in range(3))
    p = Params(contamination=kind, level=0.3, seed=4, magnitude=5.0, contaminate_values=True)
    seen: list[AttentionCall] = []

    def keep(call: AttentionCall) -> Tensor:
        seen.append(call)
        return call.q

    call = AttentionCall(torch.nn.Identity(), q, k, v, 0.5)
    contaminated(keep, p, symmetric=False)(call)
    assert torch.equal(seen[0].q, q)
    for head in range(3):
        for moved, x in ((seen[0].k, k), (seen[0].v, v)):
            expected = contaminate(x[0, head], kind, 0.3, 5.0, 4).values
            torch.testing.assert_close(moved[0, head], expected, atol=1e-5, rtol=1e-5)
    contaminated(keep, p, symmetric=True)(call)
    assert torch.equal(seen[1].q, seen[1].k)


def by_hand(source: DigitsSource, index: int, layers: tuple[int, ...]) -> Tensor:
    """The digit model's forward pass written out, with symmetric attention in some layers."""
    model, x = source.model, source.model.embed(source.values(Input(index=index)))[0]
    for number, block in enumerate(model.blocks):
        attention: Any = block.attn
        q, k, v = attention.qkv(block.norm1(x)).view(len(x), 3, attention.heads, -1).permute(1, 2, 0, 3)
        q = k if number in layers else q
        weights = (q @ k.mT * attention.scale).softmax(-1)
        x = x + attention.proj((weights @ v).transpose(0, 1).reshape(len(x), -1))
        x = x + block.mlp(block.norm2(x))
    return model.head(model.norm(x)[0]).double().softmax(-1)


@pytest.mark.parametrize("layers", [(0,), (1, 3), (0, 1, 2, 3)])
def test_probabilities_are_those_of_a_pass_made_by_hand(layers: tuple[int, ...]) -> None:
    source = sample_source()
    assert isinstance(source, DigitsSource)
    *_, found = Predictor(source).predict(Params(input=Input(index=7)), Exchange("symmetric", layers))
    assert found.wanted == len(found.answers) == 2 and found.contamination == ""
    with torch.no_grad():
        clean, exchanged = by_hand(source, 7, ()), by_hand(source, 7, layers)
    np.testing.assert_allclose(found.answers[False, False].probabilities, clean, atol=1e-6)
    np.testing.assert_allclose(found.answers[False, True].probabilities, exchanged, atol=1e-6)
    assert found.true == str(source.label(Input(index=7)))
    assert found.answers[False, True].truth == pytest.approx(float(exchanged[int(found.true)]), abs=1e-6)


def test_a_model_trained_with_rpc_answers_as_itself_with_its_own_settings() -> None:
    source = digits("rpc")
    assert source.pursuit is not None
    lam, iterations = source.pursuit
    exchange = Exchange("rpc", tuple(range(source.layers)))
    *_, own = Predictor(source).predict(Params(lam=lam, iterations=iterations), exchange)
    np.testing.assert_allclose(
        own.answers[False, True].probabilities, source.predict(Input(), CPU), atol=1e-4
    )
    assert "RPC here is just that" in own.label
    *_, other = Predictor(source).predict(Params(lam=lam, iterations=iterations + 2), exchange)
    assert "another RPC" in other.label


@pytest.mark.parametrize(
    ("variant", "words"),
    [("softmax", "trained with softmax, not for RPC"), ("symmetric", "symmetric softmax")],
)
def test_the_label_says_what_the_checkpoint_was_trained_with(variant: str, words: str) -> None:
    answers = next(Predictor(digits(variant)).predict(Params(), Exchange("rpc", (0,))))
    assert words in answers.label


@pytest.mark.parametrize("attention", ATTENTIONS)
def test_four_answers_one_after_the_other(attention: Any) -> None:
    steps = list(Predictor(sample_source()).predict(Params(level=0.1), Exchange(attention, (0, 1))))
    assert [len(step.answers) for step in steps] == [1, 2, 3, 4] and steps[-1].wanted == 4
    for answer in steps[-1].answers.values():
        assert answer.probabilities.sum() == pytest.approx(1)
        assert len(answer.names) == 10
    moved = steps[-1].answers
    assert not np.allclose(moved[False, False].probabilities, moved[True, False].probabilities)
    assert "layers 0–1" in steps[-1].exchange and "keys of every head" in steps[-1].contamination


def test_many_classes_are_ranked(tiny: Tiny) -> None:
    *_, found = Predictor(opened(tiny("gpt2"))).predict(Params(input=IDS), Exchange("rpc", (1,)))
    answer = found.answers[False, True]
    assert len(answer.names) == 8 and found.true is None
    assert (np.diff(answer.probabilities) <= 0).all() and answer.best == answer.names[0]


def test_an_embedding_is_compared_with_clean_softmax(tiny: Tiny) -> None:
    *_, found = Predictor(opened(tiny("roberta"))).predict(Params(input=IDS, level=0.2), Exchange("rpc", ALL))
    cosines = [found.answers[case].cosine for case in found.answers]
    assert cosines[0] == pytest.approx(1) and len(cosines) == 4
    assert all(cosine is not None and -1 <= cosine < 1 for cosine in cosines[1:])


def test_going_back_gives_the_same_answer() -> None:
    source = sample_source()
    predictor, exchange = Predictor(source), Exchange("rpc", (0, 1, 2, 3))
    first, _, third = ([*predictor.predict(Params(level=level), exchange)][-1] for level in (0.05, 0.3, 0.05))
    fresh = [*Predictor(source).predict(Params(level=0.05), exchange)][-1]
    for other in (third, fresh):
        for case, answer in first.answers.items():
            assert np.array_equal(answer.probabilities, other.answers[case].probabilities)


def test_the_curve_is_the_answer_at_each_level() -> None:
    source = sample_source()
    predictor, exchange = Predictor(source), Exchange("rpc", (0,))
    steps = list(predictor.curve(Params(seed=2), exchange))
    assert [step.done for step in steps] == sorted(step.done for step in steps)
    last = steps[-1]
    assert last.done == last.wanted and "true" in last.measure
    level = float(last.levels[3])
    *_, at = predictor.predict(Params(level=level, seed=3), exchange)
    assert at.answers[True, False].truth == last.softmax[1, 3]
    assert at.answers[True, True].truth == last.exchanged[1, 3]
    assert np.ptp(last.softmax[:, 0]) == 0


def test_nothing_stays_in_a_model_after_use(tiny: Tiny) -> None:
    source = opened(tiny("mpnet"))
    before = hooks(source.loaded.model)
    *_, first = Predictor(source).predict(Params(input=IDS, level=0.1), Exchange("rpc", ALL))
    assert hooks(source.loaded.model) == before
    *_, again = Predictor(source).predict(Params(input=IDS), Exchange("symmetric", ALL))
    assert again.answers[False, False].cosine == first.answers[False, False].cosine


def test_nothing_stays_in_a_model_after_a_stop_or_an_error(tiny: Tiny, monkeypatch: Any) -> None:
    source = opened(tiny("llama"))
    before, own = hooks(source.loaded.model), logits(source)
    asked: list[None] = []

    def soon() -> bool:
        asked.append(None)
        return len(asked) > 4

    with pytest.raises(Stopped):
        list(Predictor(source).predict(Params(input=IDS), Exchange("rpc", ALL), should_stop=soon))

    def broken(*_: Any, **__: Any) -> Tensor:
        raise ZeroDivisionError

    monkeypatch.setattr("explorer.exchanged.pap", broken)
    with pytest.raises(ZeroDivisionError):
        list(Predictor(source).predict(Params(input=IDS), Exchange("rpc", ALL)))
    assert hooks(source.loaded.model) == before
    assert torch.equal(logits(source), own)


def test_exact_pcp_can_be_stopped_within_a_layer() -> None:
    asked: list[None] = []

    def soon() -> bool:
        asked.append(None)
        return len(asked) > 12

    with pytest.raises(Stopped):
        list(Predictor(sample_source()).predict(Params(), Exchange("pcp", (0,)), should_stop=soon))
    assert len(asked) == 13


def test_heads_without_a_model_say_nothing() -> None:
    with pytest.raises(GramscopeError, match="Open a checkpoint"):
        next(Predictor(FixedSource()).predict(Params(), Exchange("rpc", (0,))))


@pytest.mark.parametrize("kind", ["salt and pepper", "pixel noise", "blur", "occlusion", "fgsm", "pgd"])
def test_a_contaminated_input_is_read_again_by_both_attentions(kind: Any) -> None:
    source, p = sample_source(), Params(contamination=kind, level=0.25, steps=2)
    *_, found = Predictor(source).predict(p, Exchange("symmetric", (1,)))
    expected = source.predict(replace(p.input, change=p.change), CPU)
    np.testing.assert_allclose(found.answers[True, False].probabilities, expected, atol=1e-6)
    assert len(found.answers) == 4 and "the input" in found.contamination


def test_what_is_not_drawn_has_a_curve_of_one_seed() -> None:
    steps = list(Predictor(sample_source()).curve(Params(contamination="blur"), Exchange("rpc", (0,))))
    last = steps[-1]
    assert last.softmax.shape == (1, 13) and last.done == last.wanted == 26
    assert steps[0].seconds is None and steps[1].seconds > 0 and last.seconds == 0


def test_an_attack_is_computed_once_for_both_attentions(monkeypatch: pytest.MonkeyPatch) -> None:
    source, p = sample_source(), Params(contamination="pgd", level=0.1, steps=2)
    attacked: list[Input] = []
    original = DigitsSource.prepare

    def prepare(self: DigitsSource, input: Input, *args: Any) -> Any:
        attacked.extend([input] if input.change is not None else [])
        return original(self, input, *args)

    monkeypatch.setattr(DigitsSource, "prepare", prepare)
    assert len(list(Predictor(source).predict(p, Exchange("rpc", (1,))))) == 4
    assert len(attacked) == 1


@pytest.mark.parametrize(
    ("name", "attention", "words"),
    [
        ("gpt2", "rpc", ("μ is taken over all keys", "mask: causal)", "later keys.")),
        ("mistral", "rpc", ("sliding window of 5", "the same one on the other pages")),
        ("gpt2", "pcp", ("The low-rank part is that of all keys",)),
        ("gpt2", "symmetric", ()),
        ("bert", "rpc", ()),
    ],
)
def test_keys_that_a_mask_hides_count_in_the_model_and_that_is_said(
    name: str, attention: Any, words: tuple[str, ...], tiny: Tiny
) -> None:
    source = opened(tiny(name))
    first = next(Predictor(source).predict(Params(input=IDS), Exchange(attention, (0,))))
    said = " ".join(first.notes)
    assert all(word in said for word in words)
    assert words or "all keys" not in said


def test_what_an_attack_raises_is_said() -> None:
    predictor, p = Predictor(sample_source()), Params(contamination="fgsm", level=0.1, layer=2, head=1)
    *_, of_loss = predictor.predict(p, Exchange("rpc", (0,)))
    *_, of_head = predictor.predict(p.but(target="output"), Exchange("rpc", (0,)))
    assert "raising the model's loss, ε = 10 %" in of_loss.contamination
    assert "moving head 1 of layer 2" in of_head.contamination
