"""Nothing is left out of what is written; what print leaves out it says."""

import pytest

import forearm as fa
from cli.verbs import forearm
from forearm.derivation import derive, symbolic

pytest.importorskip("sympy", reason="SymPy is the extra `derive`")


@pytest.fixture(scope="module")
def planar():
    link = fa.load("rr").links[0]
    links = tuple(link.replace(name=f"link{i}") for i in (1, 2, 3))
    return derive(
        symbolic(fa.load("rr").replace(name="planar 3R", links=links, configurations=()), style="full")
    )


def test_a_shortened_print_says_how_to_get_all(planar):
    assert "terms; to_text() writes them all" in str(planar)


def test_the_whole_text_leaves_no_term_out(planar):
    text = planar.to_text()
    assert "…" not in text
    assert text.count("tau") == 3
    used = {name for x in (*planar.M.ravel(), *planar.g) for name in x.names}
    assert all(name in text for name in used if not name.startswith("q"))


def test_a_file_written_by_derive_leaves_no_term_out(tmp_path, capsys):
    path = tmp_path / "x.txt"
    forearm(capsys, "derive", "puma560", "-o", str(path))
    assert "…" not in path.read_text()
    assert path.read_text().count("tau") == 6


def test_pages_say_where_their_numbers_are_rounded(tmp_path, capsys):
    for end in ("txt", "tex", "md"):
        path = tmp_path / f"x.{end}"
        forearm(capsys, "derive", "planar_3r", "-o", str(path))
        assert "numbers are written to six digits" in path.read_text()  # 0.0106667 is 4/375
    assert "six digits" not in derive(fa.load("rr")).to_text()  # 0.16375 is all of it


def test_a_page_of_tex_says_that_drives_are_left_out(tmp_path, capsys):
    path = tmp_path / "x.tex"
    forearm(capsys, "derive", "puma560", "-o", str(path))
    assert "rotor inertia and friction are left out" in path.read_text()
