import math

import numpy as np
import pytest

from riemdp import GDP, InvalidParameterError, PureDP, SPDAffineInvariant, Sphere, plan, plan_grid

NS, BUDGETS = [50, 500], [PureDP(0.5), PureDP(1.0), GDP(1.0)]


def test_each_entry_is_the_plan_for_it():
    grid = plan_grid(Sphere(2), 0.5, NS, BUDGETS)
    assert grid.errors.shape == (2, 3)
    for i, n in enumerate(NS):
        for j, budget in enumerate(BUDGETS):
            alone = plan(Sphere(2), 0.5, n, budget)
            assert grid.errors[i, j] == alone.best.expected_distance
            assert str(grid.plans[i][j]) == str(alone)


def test_its_text_has_a_row_for_each_n():
    lines = str(plan_grid(Sphere(2), 0.5, NS, BUDGETS)).splitlines()
    assert lines[0].startswith("Sphere(dim=2")
    assert lines[1].split() == ["n", "PureDP(epsilon=0.5)", "PureDP(epsilon=1.0)", "GDP(mu=1.0)"]
    assert [line.split()[0] for line in lines[2:]] == ["50", "500"]


def test_its_records_name_the_mechanism():
    records = plan_grid(Sphere(2), 0.5, NS, BUDGETS).to_records()
    assert len(records) == 6
    assert records[0]["n"] == 50
    assert records[0]["budget"] == "PureDP(epsilon=0.5)"
    assert records[0]["mechanism"] == plan(Sphere(2), 0.5, 50, BUDGETS[0]).best.mechanism


def test_what_is_not_available_has_no_error():
    grid = plan_grid(
        SPDAffineInvariant(2), 1.0, [10], [PureDP(1e-300)], mechanisms=["tangent-gaussian"]
    )
    assert math.isnan(grid.errors[0, 0])
    assert str(grid).splitlines()[-1].split() == ["10", "-"]
    assert grid.to_records()[0]["mechanism"] is None


@pytest.mark.parametrize(
    ("ns", "budgets", "name"),
    [(5, BUDGETS, "ns"), ([], BUDGETS, "ns"), (NS, GDP(1.0), "budgets"), (NS, [], "budgets")],
)
def test_one_number_is_no_grid(ns, budgets, name):
    with pytest.raises(InvalidParameterError, match=name):
        plan_grid(Sphere(2), 0.5, ns, budgets)


def test_options_go_to_every_plan():
    grid = plan_grid(Sphere(2), 0.5, np.array(NS), BUDGETS[:1], adjacency="add-remove")
    assert {each.neighbours.adjacency for row in grid.plans for each in row} == {"add-remove"}


def test_plans_and_grids_are_tables_in_notebooks_and_frames():
    pandas = pytest.importorskip("pandas")
    grid = plan_grid(Sphere(2), 0.5, NS, BUDGETS)
    alone = grid.plans[0][0]
    assert "GDP(mu=1.0)" in grid._repr_html_()
    page = alone._repr_html_()
    assert page.count("<tr>") == 1 + len(alone)
    assert "riemannian-laplace" in page
    frame = alone.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["mechanism"].tolist() == [row.mechanism for row in alone]
    assert frame["sigma"].notna().any()
    assert grid.to_frame()["expected_distance"].tolist() == grid.errors.ravel().tolist()


def test_shares_of_budgets_have_four_digits_in_the_text():
    grid = plan_grid(Sphere(2), 0.5, [50], [GDP(1.0) / 48, PureDP(2.5)])
    header = str(grid).splitlines()[1]
    assert header.split() == ["n", "GDP(mu=0.1443)", "PureDP(epsilon=2.5)"]
    assert grid.budgets[0].mu != 0.1443


@pytest.fixture(scope="module")
def targeted():
    return plan_grid(
        Sphere(2), 0.5, [50, 400], [GDP(0.5), GDP(1.0)], target_error=0.02,
        mechanisms=["tangent-gaussian"],
    )  # fmt: skip


def test_a_grid_says_what_meets_the_target(targeted):
    assert targeted.target_error == 0.02
    np.testing.assert_array_equal(targeted.meets_target, targeted.errors <= 0.02)
    assert targeted.meets_target.tolist() == [[False, False], [True, True]]
    lines = str(targeted).splitlines()
    assert lines[1].endswith("  budget needed")
    marked = [[cell.endswith("*") for cell in line.split()[1:3]] for line in lines[2:4]]
    assert marked == targeted.meets_target.tolist()
    assert lines[4].split() == ["n", "needed", *map(str, targeted.required_n)]
    assert lines[5] == "* at most the target error 0.02"
    assert "* at most the target error 0.02" in targeted._repr_html_()
    assert targeted.to_records()[3]["meets_target"] is True
    assert targeted.to_records()[3]["required_n"] == targeted.required_n[1]


@pytest.mark.parametrize("j", [0, 1])
def test_the_n_that_a_grid_names_is_the_smallest(targeted, j):
    def error(n):
        options = {"mechanisms": ["tangent-gaussian"]}
        return plan(Sphere(2), 0.5, n, targeted.budgets[j], **options).best.expected_distance

    n = targeted.required_n[j]
    assert error(n) <= 0.02 < error(n - 1)


def test_the_budget_that_a_grid_names_is_enough(targeted):
    for n, budgets in zip(targeted.ns, targeted.required_budgets, strict=True):
        (least,) = budgets
        found = [
            plan(Sphere(2), 0.5, n, GDP(mu), mechanisms=["tangent-gaussian"]).best
            for mu in (least.mu, 0.999 * least.mu)
        ]
        assert found[0].expected_distance <= 0.02 < found[1].expected_distance


def test_a_target_out_of_reach_is_said_to_be():
    grid = plan_grid(
        Sphere(2), 0.5, [50], [PureDP(1.0)], target_error=1e-5, mechanisms=["tangent-gaussian"]
    )
    assert not grid.meets_target.any()
    assert str(grid).splitlines()[-1] == "no entry is at most the target error 1e-05"
    assert grid.required_n == (None,)
    assert grid.required_budgets == ((),)


def test_without_a_target_nothing_is_said_of_one():
    grid = plan_grid(Sphere(2), 0.5, [50], [GDP(1.0)], mechanisms=["tangent-gaussian"])
    assert "needed" not in str(grid)
    assert "*" not in str(grid)
    assert not grid.meets_target.any()
    assert grid.required_n == (None,)
    assert "meets_target" not in grid.to_records()[0]
