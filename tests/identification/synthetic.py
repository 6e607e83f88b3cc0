"""Logs made from arms whose truth is known: noise, quantised encoders, jitter, friction."""

import numpy as np

import forearm as fa
from forearm.motion.motions import Fourier

TICK = 2 * np.pi / 2**18


def with_drives(arm, seed=0, rotors=True, smoothing=0.01):
    """The arm with friction and rotors of a plausible size."""
    rng = np.random.default_rng(seed)
    q, qd, qdd = arm.random_state(seed, (300,))
    size = np.sqrt(np.mean(fa.inverse_dynamics(arm.without_drives(), q, qd, qdd) ** 2, axis=0))
    links = []
    for link, s in zip(arm.links, np.maximum(size, 0.02 * size.max()), strict=True):
        dry = 0.05 * s * rng.uniform(0.5, 1.5)
        drive = fa.Drive(
            rotor_inertia=0.01 * s * rng.uniform(0.5, 1.5) if rotors else 0.0,
            side="joint",
            viscous=0.03 * s * rng.uniform(0.5, 1.5),
            coulomb=(dry, dry),
            smoothing=smoothing,
        )
        links.append(link.replace(drive=drive))
    return arm.replace(links=tuple(links))


def somewhat_wrong(arm, seed=0, by=0.2):
    """A start: the arm with every link's mass and inertia off by so much, and no drives."""
    rng = np.random.default_rng(seed)
    theta = fa.parameters(arm).reshape(arm.n, 10) * rng.uniform(1 - by, 1 + by, (arm.n, 1))
    defects = "a start" if arm.defects else None
    wrong = arm.with_parameters(theta, defects=defects)
    drives = [fa.Drive(smoothing=link.drive.smoothing) for link in arm.links]
    return wrong.replace(links=tuple(k.replace(drive=d) for k, d in zip(wrong.links, drives, strict=True)))


def motion_of(arm, duration=20.0, seed=0, harmonics=5):
    """A random Fourier motion, lively and within the limits."""
    rng = np.random.default_rng(seed)
    low, high = np.array([link.limits or (-2.0, 2.0) for link in arm.links]).T
    low, high = np.maximum(low, -2.5), np.minimum(high, 2.5)
    best, least = None, np.inf
    for _ in range(30):
        sines, cosines = rng.normal(size=(2, harmonics, arm.n)) / np.arange(1, harmonics + 1)[:, None]
        raw = Fourier(np.zeros(arm.n), sines, cosines, duration).sample(200)
        scale = 0.8 * np.minimum((high - low) / np.ptp(raw.q, axis=0), 2 * 2.0 / np.ptp(raw.qd, axis=0))
        center = (high + low) / 2 - scale * (raw.q.max(axis=0) + raw.q.min(axis=0)) / 2
        made = Fourier(center, sines * scale, cosines * scale, duration)
        s = made.sample(100)
        Y = fa.regressor(arm, s.q, s.qd, s.qdd).reshape(-1, 10 * arm.n)
        values = np.linalg.svd(Y, compute_uv=False)
        condition = values[0] / values[fa.base_parameters(arm, rotors=False).rank - 3 * arm.n - 1]
        if condition < least:
            best, least = made, condition
    return best


def log_of(arm, motion, rate=500.0, noise=0.01, tick=TICK, jitter=0.0, seed=0, offset=0.0, periods=1):
    """A log: torques with noise of a share of their range, positions on the encoder's ticks, no speeds."""
    rng = np.random.default_rng(seed)
    t = np.arange(0.0, periods * motion.duration, 1 / rate)
    t = t + jitter / rate * rng.uniform(-1, 1, len(t))
    s = motion.sample(t)
    tau = fa.inverse_dynamics(arm, s.q, s.qd, s.qdd) + offset
    spread = noise * np.ptp(tau, axis=0)
    q = s.q if tick == 0 else np.round(s.q / tick) * tick
    return {"t": t, "q": q, "tau": tau + spread * rng.normal(size=tau.shape)}
