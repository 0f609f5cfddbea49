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
