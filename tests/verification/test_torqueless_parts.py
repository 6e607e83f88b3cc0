"""Two descriptions of equal torques, and what else differs of them."""

import numpy as np
import pytest

import forearm as fa
from cli.verbs import forearm

ARM = fa.load("rr")


def with_link(i, **changes):
    links = list(ARM.links)
    links[i] = links[i].replace(**changes)
    return ARM.replace(links=tuple(links))


CHANGED = {
    "limits of position: 'q1' none and -1 to 1": with_link(0, limits=(-1.0, 1.0)),
    "limits of speed": with_link(1, speed_limit=3.0),
    "limits of torque": with_link(1, effort_limit=50.0),
    "tool in the world: up to 0.5 m apart": ARM.with_tool(ARM.tool @ fa.Pose.at((0.5, 0.0, 0.0))),
    "turned by up to 90 deg": ARM.with_tool(ARM.tool @ fa.Pose.at((0.0, 0.0, 0.0), (np.pi / 2, 0.0, 0.0))),
    "tool in the world: up to 0.4": ARM.with_base(fa.Pose.at((0.0, 0.0, 0.4)) @ ARM.base),
    "names of joints": with_link(0, name="shoulder"),
}


@pytest.mark.parametrize("said", CHANGED)
def test_arms_that_differ_beside_their_torques_were_the_same_without_a_word(said, capsys, tmp_path):
    found = fa.compare(ARM, CHANGED[said])
    assert found.same
    assert said in "; ".join(found.beside)
    assert "torques: the same within rounding" in str(found)
    assert "these differ" in str(found)
    assert said in found.to_json()


def test_the_command_says_it_and_what_its_exit_code_means(capsys, tmp_path):
    for name, arm in (("a", ARM), ("b", with_link(0, limits=(-1.0, 1.0)))):
        fa.write_toml(arm, tmp_path / f"{name}.toml")
    said = forearm(capsys, "compare", tmp_path / "a.toml", tmp_path / "b.toml")
    assert said.code == 0
    assert "limits of position" in said.out
    assert forearm(capsys, "compare", tmp_path / "a.toml", tmp_path / "b.toml", "--json").json["beside"]


def test_nothing_is_beside_where_nothing_is():
    for name in ("rr", "ur5e", "stanford"):
        arm = fa.load(name)
        assert fa.compare(arm, fa.load(name)).beside == ()
        assert "differ" not in str(fa.compare(arm, arm))


def test_a_written_and_read_arm_is_the_same_beside_its_torques(tmp_path):
    arm = fa.load("ur5e")
    fa.write_toml(arm, tmp_path / "a.toml")
    assert fa.compare(arm, fa.load(tmp_path / "a.toml")).beside == ()
