"""Angles of a log that are wrapped to one turn."""

import numpy as np
import pytest

from cli.verbs import forearm


def log(path, q):
    t = 0.01 * np.arange(len(q))
    rows = "\n".join(",".join(map(repr, row)) for row in np.column_stack([t, q]).tolist())
    path.write_text(f"t,q1,q2\n{rows}\n")
    return path


@pytest.mark.parametrize("low", [-np.pi, 0.0])
def test_angles_wrapped_to_one_turn_gave_hundreds_of_kilonewton_metres_without_a_word(capsys, tmp_path, low):
    t = 0.01 * np.arange(500)
    q = np.stack([1.5 * t, 0.3 * np.sin(t)], axis=1)
    good = forearm(capsys, "torque", "rr", log(tmp_path / "good.csv", q), "--summary")
    assert "whole turn" not in good.err
    q[:, 0] = (q[:, 0] - low) % (2 * np.pi) + low
    said = forearm(capsys, "torque", "rr", log(tmp_path / "wrapped.csv", q), "--summary")
    assert "position 1 jumps by -6.27 rad, a whole turn" in said.err
    assert "1 such jumps" in said.err
    told = forearm(capsys, "--json", "torque", "rr", tmp_path / "wrapped.csv", "--summary").json
    assert any("whole turn" in note for note in told["notes"])
