import numpy as np
import pytest

import riemdp

figure = pytest.importorskip("matplotlib.figure")


@pytest.fixture(scope="module")
def result():
    def release(data, generator):
        return data.mean() + generator.laplace(scale=0.5 / len(data))

    return riemdp.audit(
        release,
        np.eye(100)[0],
        np.zeros(100),
        riemdp.PureDP(1.0),
        samples=400,
        generator=np.random.default_rng(0),
    )


def test_rates_are_those_of_the_result_and_of_the_claim(result):
    ax = result.plot(figure.Figure().add_subplot())
    lines = {line.get_label(): np.array(line.get_data()) for line in ax.lines}
    fpr, fnr = lines["claimed: PureDP(epsilon=1.0)"]
    pure = np.maximum(1.0 - np.e * fpr, (1.0 - fpr) / np.e)
    np.testing.assert_allclose(fnr, np.maximum(pure, 0.0), atol=1e-9)
    np.testing.assert_array_equal(lines["measured"], [result.trade_off.fpr, result.trade_off.fnr])
    bounds = [(event.fpr, event.fnr) for event in result.events]
    np.testing.assert_array_equal(lines["certified upper bounds"].T, bounds)
    assert not np.array_equal(lines["measured"][1], result.trade_off.fnr[::-1])


def test_the_title_says_what_was_shown(result):
    title = result.plot(figure.Figure().add_subplot()).get_title()
    assert title.startswith(result.verdict)
    assert f"mu >= {result.mu_lower:.3g}" in title
