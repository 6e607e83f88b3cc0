"""Everything that is told of a whole motion from samples of it, beside motions whose peaks are known.

Truth is a closed form where there is one; else a dense search between the breaks of a motion, and averages by
Gauss-Legendre in each of its pieces: neither uses the instants that forearm looks at. What is told agrees to a
thousandth, and verdicts are right on both sides of a limit.
"""

import logging

import numpy as np
import pytest

import forearm as fa
from forearm.motion.motions import Fourier, Quintic, Samples, Trapezoid, ViaPoints
from forearm.motion.profiles.path_profiles import Joined
from forearm.simulation import error_against_speed

CLOSE = 1e-3


def slide(limits=None):
    """Three kilograms on a vertical axis: the force is 3 (qdd + 9.81)."""
    return fa.Arm(
        "lift", [fa.Link("prismatic", mass=3.0, name="slide", limits=limits)], gravity=(0, 0, -9.81)
    )


ARMS = {
    "lift": slide(),
    "rr": fa.load("rr"),
    "stanford": fa.load("stanford"),
    "ur5e, loaded": fa.load("ur5e").with_payload(3.0, frame="tool"),
    "puma560, friction": fa.load("puma560"),
}
PLACES = np.random.default_rng(4).uniform(-0.4, 0.4, (40_000, 6))


def zigzag(n, pieces, T):
    """A spline through points all over the place."""
    return ViaPoints(np.linspace(0.0, T, pieces + 1), PLACES[: pieces + 1, :n])


def logged(n, pieces, T):
    """A slow swing as a log has it: thousands of even pieces, each bent a little by its digits."""
    t = np.linspace(0.0, T, pieces + 1)
    return ViaPoints(t, np.round(0.3 * np.sin(14 * np.pi * t[:, None] / T + np.arange(n)), 5))


def uneven(n, pieces, T):
    """A slow swing whose points are now near, now far from each other, by a thousand times."""
    sizes = 10.0 ** np.random.default_rng(2).uniform(-3, 0, pieces)
    t = np.concatenate([[0.0], np.cumsum(sizes)]) * (T / np.sum(sizes))
    return ViaPoints(t, 0.2 * np.sin(6 * np.pi * t[:, None] / T + np.arange(n)))


def waves(n, order, T):
    """A Fourier series of random waves."""
    rng = np.random.default_rng(order)
    size = np.arange(1, order + 1)[:, None] ** 2 * 10.0
    return Fourier(PLACES[0, :n], rng.normal(size=(order, n)) / size, rng.normal(size=(order, n)) / size, T)


def brief(n, T):
    """At rest, but for a twitch of a thousandth of the time and one of a ten-thousandth."""
    A = PLACES[0, :n]
    points = np.array([A, A, A + 1e-4, A, A, A + 3e-6, A])
    return ViaPoints(T * np.array([0.0, 0.4, 0.4005, 0.401, 0.9, 0.9001, 1.0]), points)


def one_after_the_other(n, T):
    """Slow, a hundred times faster, slow again, with jumps where one ends."""
    A, B, C = PLACES[:3, :n]
    parts = (
        Quintic(A, B, 0.4 * T),
        Trapezoid(B, 1.01 * B, 0.004 * T, ramp=0.1),
        Quintic(1.01 * B, C, 0.596 * T),
    )
    return Joined(parts)


MOTIONS = {
    "quintic": lambda n, T: Quintic(PLACES[0, :n], PLACES[1, :n], T),
    "ramps of a thousandth": lambda n, T: Trapezoid(PLACES[0, :n], PLACES[1, :n], T, ramp=1e-3),
    "one joint moves by 1e-9": lambda n, T: Quintic(
        PLACES[0, :n], PLACES[0, :n] + 1e-9 + (np.arange(n) > 0) * 0.3, T
    ),
    "brief": brief,
    "one after the other": one_after_the_other,
    "zigzag of 30": lambda n, T: zigzag(n, 30, T),
    "waves of order 12": lambda n, T: waves(n, 12, T),
    "zigzag of 3000": lambda n, T: zigzag(n, 3000, T),
    "log of 3000 rows": lambda n, T: logged(n, 3000, T),
    "uneven, 300": lambda n, T: uneven(n, 300, T),
    "uneven, 3000": lambda n, T: uneven(n, 3000, T),
    "log of 20000 rows": lambda n, T: logged(n, 20_000, T),
    "uneven, 20000": lambda n, T: uneven(n, 20_000, T),
}
QUICK = {("rr", "log of 3000 rows", 1.0), ("lift", "uneven, 300", 1e4), ("stanford", "zigzag of 30", 1.0)}
CASES = [
    pytest.param(*case, marks=[] if case in QUICK else pytest.mark.more)
    for case in ((arm, motion, T) for arm in ARMS for motion in MOTIONS for T in (1e-3, 1.0, 1e4))
    if case[2] == 1.0 or case[0] in ("lift", "rr")
]


def pieces_of(motion):
    breaks = np.unique(motion.breaks)
    keep = np.diff(breaks) > 1e-12 * motion.duration
    return breaks[:-1][keep], np.diff(breaks)[keep]


def asked(arm, motion, t):
    """|torque|, |speed|, |power|, position both ways at times: (5, K, n)."""
    q, qd, qdd = motion.rows(t)
    tau = fa.inverse_dynamics(arm, q, qd, qdd)
    return np.stack([np.abs(tau), np.abs(qd), np.abs(tau * qd), q, -q])


def true_peaks(arm, motion):
    """The greatest of each (5, n), at many places of each piece, the ends among them, just inside."""
    start, size = pieces_of(motion)
    count = int(np.clip(200_000 // len(start), 40, 4000))
    u = np.clip((1 - np.cos(np.linspace(0, np.pi, count))) / 2, 1e-9, 1 - 1e-9)
    t = (start[:, None] + size[:, None] * u).ravel()
    sizes = asked(arm, motion, t)
    piece, place = np.divmod(np.argmax(sizes, axis=1), count)
    low, high = (u[np.clip(place + step, 0, count - 1)] for step in (-1, 1))
    inside = (low + (high - low) * np.linspace(0, 1, 101)[:, None, None]) * size[piece] + start[piece]
    closer = asked(arm, motion, inside.ravel()).reshape(5, *inside.shape, -1)
    kinds, joints = np.indices(piece.shape)
    found: np.ndarray = np.max(closer[kinds, :, kinds, joints, joints], axis=-1)
    return np.maximum(found, np.max(sizes, axis=1))


def mean_square(arm, motion, of):
    start, size = pieces_of(motion)
    u, w = np.polynomial.legendre.leggauss(12)
    parts = max(1, 500 // len(start))
    width = np.repeat(size, parts) / parts
    begin = (start[:, None] + size[:, None] * np.arange(parts) / parts).ravel()
    t = begin[:, None] + width[:, None] * (u + 1) / 2
    return (width[:, None] * w / 2).ravel() @ of(*motion.rows(t.ravel())) ** 2 / np.sum(size)


def told(report, name):
    return np.array([getattr(load, name) for load in report.loads])


def near(values, truth, scale):
    """Equal to a thousandth, or to rounding of the largest that is computed with it."""
    np.testing.assert_allclose(values, truth, rtol=CLOSE, atol=1e-11 * np.max(scale))


@pytest.mark.parametrize(("arm", "motion", "T"), CASES)
def test_peaks_means_and_verdicts_are_those_of_the_motion(arm, motion, T):
    """The rms of a log of 30 000 rows was 4 % too large, of uneven ones half as much again."""
    arm = ARMS[arm]
    motion = MOTIONS[motion](arm.n, T)
    truth = true_peaks(arm, motion)
    report = fa.feasible(arm, motion)
    for row, name in enumerate(("peak", "peak_speed", "peak_power")):
        near(told(report, name), truth[row], truth[row])
        when = told(report, ("peak_at", "speed_at", "power_at")[row])
        values = np.diagonal(asked(arm, motion, when)[row])
        near(values, told(report, name), truth[row])
    rms = np.sqrt(mean_square(arm, motion, lambda *row: fa.inverse_dynamics(arm, *row)))
    near(told(report, "rms"), rms, rms)
    span = np.ptp(report.samples.q, axis=0)
    assert np.all(report.samples.q.max(axis=0) > truth[3] - 1e-4 * span)
    assert np.all(-report.samples.q.min(axis=0) > truth[4] - 1e-4 * span)
    j = int(np.argmax(truth[0]))
    for what, name, most in (
        ("torque", "torques", truth[0]),
        ("speed", "speeds", truth[1]),
        ("power", "powers", truth[2]),
        ("rms torque", "rms_torques", rms),
    ):
        wide = {key: np.inf for key in ("torques", "speeds", "powers", "rms_torques")}
        for share, within in ((0.998, False), (1.002, True)):
            limit = np.full(arm.n, np.inf)
            limit[j] = share * most[j]
            judged = fa.feasible(arm, motion, **wide | {name: limit}, tolerance=0.0)
            assert (what not in {e.what for e in judged.excesses}) == within, (what, share)


@pytest.mark.parametrize(("arm", "motion", "T"), CASES)
def test_the_largest_speed_up_is_that_of_the_peaks(arm, motion, T):
    """Splines of thousands of points could be run 5 % faster than their limits of speed allow."""
    arm = ARMS[arm].without_drives()
    arm = arm.replace(gravity=(0.0, 0.0, 0.0))  # so that torques are those of the motion times k²
    motion = MOTIONS[motion](arm.n, T)
    torque, speed = true_peaks(arm, motion)[:2]
    some = torque > 1e-9 * np.max(torque)
    for limits in (
        {"torques": np.where(some, 4.0 * torque, np.inf), "speeds": np.inf},
        {"torques": np.inf, "speeds": 2 * speed},
    ):
        assert fa.speed_up(arm, motion, **limits).factor == pytest.approx(2.0, rel=CLOSE)


def test_a_sine_of_a_lift_has_the_peaks_of_its_formula():
    """q = 0.1 sin(wt): the force is 3 (9.81 - 0.1 w² sin wt), its mean square (3 g)² + (0.3 w²)² / 2."""
    T, g = 0.7, 9.81
    w = 2 * np.pi / T
    motion = Fourier([0.0], [[0.1]], [[0.0]], T)
    load = fa.feasible(slide(), motion).loads[0]
    assert load.peak == pytest.approx(3 * (g + 0.1 * w * w), rel=1e-6)
    assert load.peak_at == pytest.approx(0.75 * T, abs=1e-3 * T)
    assert load.peak_speed == pytest.approx(0.1 * w, rel=1e-6)
    assert load.rms == pytest.approx(np.hypot(3 * g, 0.3 * w * w / np.sqrt(2)), rel=1e-9)


@pytest.mark.parametrize("side", [0, 1])
def test_a_spline_of_3000_pieces_was_within_limits_of_position_that_it_passes_between_two_samples(side):
    motion = zigzag(1, 3000, 60.0)
    turn = true_peaks(slide(), motion)[3 + side][0]
    for share, within in ((0.999, False), (1.001, True)):
        limits = (-5.0, share * turn) if side == 0 else (-share * turn, 5.0)
        report = fa.feasible(slide(limits), motion)
        assert bool(report) == within
        if not within:
            assert abs(report.worst.worst) == pytest.approx(turn, rel=1e-4)


@pytest.mark.parametrize("what", ["position", "speed"])
def test_a_follower_of_two_joints_goes_farthest_where_neither_of_them_does(what):
    links = [
        fa.Link("revolute", fa.Pose.at((0.2, 0, 0)), mass=1.0, com=(0.1, 0, 0), name=name) for name in "abc"
    ]
    motion = zigzag(2, 2000, 60.0)
    start, size = pieces_of(motion)
    q, qd, _ = motion.rows((start[:, None] + size[:, None] * np.linspace(0, 1, 200)).ravel())
    most = np.max(np.abs((q if what == "position" else qd) @ [1.0, -1.0]))
    for share, within in ((0.999, False), (1.001, True)):
        limit = share * most
        own = {"limits": (-limit, limit)} if what == "position" else {"speed_limit": limit}
        robot = fa.Robot("two", [*links[:2], links[2].replace(**own)], (0, 1, 2))
        robot = robot.with_couplings({"c": {"a": 1.0, "b": -1.0}})
        assert bool(fa.feasible(robot, motion, tolerance=0.0)) == within


def test_what_is_beyond_for_a_moment_was_beyond_in_a_third_of_the_rows():
    """Instants are closer where a motion changes: their share says nothing to anybody."""
    motion = brief(1, 1.0)
    report = fa.feasible(slide(), motion, speeds=1e-9)
    share = np.mean(np.abs(motion.sample(200_001).qd) > 1e-9)
    assert report.worst.share == pytest.approx(share, rel=0.01)
    assert "% of the time" in str(report)
    rows = motion.sample(1001)
    assert "% of the rows" in str(fa.feasible(slide(), rows, speeds=1e-9))


TERMS = [
    ("rr", "uneven, 300"),
    pytest.param("rr", "zigzag of 3000", marks=pytest.mark.more),
    pytest.param("rr", "waves of order 12", marks=pytest.mark.more),
    pytest.param("ur5e, loaded", "log of 3000 rows", marks=pytest.mark.more),
    pytest.param("puma560, friction", "uneven, 3000", marks=pytest.mark.more),
]


@pytest.mark.parametrize(("arm", "motion"), TERMS)
def test_terms_along_splines_of_thousands_of_pieces_were_a_third_of_what_they_are(arm, motion):
    """And their means five times."""
    arm = ARMS[arm]
    motion = MOTIONS[motion](arm.n, 10.0)
    start, size = pieces_of(motion)
    u = np.linspace(1e-9, 1 - 1e-9, 200)
    parts = fa.terms(arm, *motion.rows((start[:, None] + size[:, None] * u).ravel()))
    largest = np.max(np.abs(parts.total), axis=0)
    found = fa.significance(arm, motion)
    for name, share in found.shares.items():
        peak = np.max(np.abs(getattr(parts, name)), axis=0)
        np.testing.assert_allclose(share.peak, peak, rtol=CLOSE, atol=1e-6 * np.max(largest), err_msg=name)
        mean = np.sqrt(mean_square(arm, motion, lambda *row, of=name: getattr(fa.terms(arm, *row), of)))
        np.testing.assert_allclose(share.mean, mean, rtol=CLOSE, atol=1e-6 * np.max(largest), err_msg=name)
    study = error_against_speed(arm, motion, [1.0])
    missing = np.max(np.max(np.abs(parts.coriolis), axis=0) / largest)
    assert study.errors["Coriolis"][0] == pytest.approx(missing, rel=0.01)


def test_a_sweep_missed_the_peak_in_the_middle_of_a_corner_without_a_word(caplog):
    """A quarter of the torque."""
    arm = fa.load("rr")
    path = fa.via_points(arm, PLACES[:5, :2], speeds=1, accelerations=3, blend=1e-3)
    with caplog.at_level(logging.WARNING, "forearm"):
        fa.sweep("inverse_dynamics", over={"motion": [path]}, arm=arm)
    assert "misses peaks of its torques" in caplog.text
    caplog.clear()
    with caplog.at_level(logging.WARNING, "forearm"):
        fa.sweep("inverse_dynamics", over={"motion": [MOTIONS["quintic"](2, 1.0)]}, arm=arm)
    assert not caplog.text


def test_an_exciting_motion_passed_a_limit_of_torque_between_the_instants_of_its_search():
    arm = fa.load("rr")
    free = fa.excite(arm, duration=3.0, generations=0, seed=3)
    t = np.arange(80) * 3.0 / 80
    seen = np.max(np.abs(fa.inverse_dynamics(arm, *free.rows(t))), axis=0)
    peaks = true_peaks(arm, free)[0]
    j = int(np.argmax(peaks / seen))
    assert peaks[j] > 1.001 * seen[j]  # or there would be nothing to see

    def limited(most):
        links = [link.replace(effort_limit=most) if k == j else link for k, link in enumerate(arm.links)]
        return arm.replace(links=tuple(links))

    motion = fa.excite(limited(1.2 * peaks[j]), duration=3.0, generations=0, seed=3)
    np.testing.assert_array_equal(motion.sines, free.sines)
    from forearm.identification import excitation

    with pytest.raises(fa.StateFault, match="would need"):
        excitation._refuse_beyond(limited((peaks[j] + seen[j]) / 2), free)


def test_a_page_plays_a_motion_beyond_its_limits_and_says_so():
    """`view` said nothing."""
    arm = slide((-0.1, 0.2))
    arm = arm.replace(links=tuple(link.replace(speed_limit=1.0) for link in arm.links))
    assert not fa.view(arm, Quintic([0.0], [0.19], 1.0)).notes
    page = fa.view(arm, Quintic([0.0], [0.25], 0.1))
    assert "position 0.25 m" in page.notes[0]
    assert "speed" in page.notes[1]
    assert "position 0.25 m" in page.html


def test_a_spline_through_points_that_nearly_coincide_lasted_hours_or_swung_out_thousands_of_turns(caplog):
    arm = fa.load("rr")
    A, B = np.array([0.0, 0.3]), np.array([0.6, 0.0])
    aside = np.array([1e-8, 1e-8])
    with caplog.at_level(logging.WARNING, "forearm"):
        slow = fa.via_points(arm, [A, A + aside, B], speeds=1, accelerations=5)
        assert slow.duration > 100
        assert "points 0 and 1 (from 0) are" in caplog.text
        caplog.clear()
        fa.fastest(arm, [A, B, B + aside, B + aside * [1, -1], A], accelerations=5, speeds=1)
        assert "swings out" in caplog.text
        caplog.clear()
        fa.via_points(arm, [A, B, B + [0.01, 0.01], [0.0, 0.1]], speeds=1, accelerations=5)
        fa.fastest(arm, [A, B, B + [0.05, 0.05], [0.0, 0.1]], accelerations=5, speeds=1)
        assert not caplog.text


def test_rows_are_judged_as_they_are_whatever_their_times():
    """Uneven times that do not begin with zero: the rms is over time."""
    t = np.array([5.0, 5.1, 5.2, 9.2])
    rows = Samples(t, np.zeros((4, 1)), np.zeros((4, 1)), np.array([[0.0], [10.0], [0.0], [0.0]]))
    load = fa.feasible(slide(), rows).loads[0]
    assert load.peak == pytest.approx(3 * 19.81)
    assert load.peak_at == 5.1
    square = 9 * 9.81**2
    assert load.rms == pytest.approx(np.sqrt((0.1 * (square + 9 * 19.81**2) + 4 * square) / 4.2))
