"""The tolerance policy, once: |got - want| <= eps * machine epsilon * scale."""

import numpy as np

EPS = np.finfo(float).eps


def error_in_eps(got, want, scale=None):
    """Largest difference in units of machine epsilon times the largest magnitude."""
    got, want = np.asarray(got, dtype=float), np.asarray(want, dtype=float)
    assert got.shape == want.shape, f"shapes differ: got {got.shape}, want {want.shape}"
    assert np.all(np.isfinite(got)), f"not finite: {got}"
    if scale is None:
        scale = np.max(np.abs(want), initial=0.0)
    return float(np.max(np.abs(got - want), initial=0.0)) / (EPS * max(float(scale), np.finfo(float).tiny))


def assert_close(got, want, eps=64, scale=None, because=None, label=""):
    """Equal to `eps` machine epsilons of the largest magnitude met (default: of `want`).

    Anything looser than 64 needs a reason, which is printed on failure.
    """
    assert eps <= 64 or because, "a tolerance above 64 eps needs because='...'"
    error = error_in_eps(got, want, scale)
    reason = f" (allowed: {because})" if because else ""
    assert error <= eps, (
        f"{label or 'values'} differ by {error:.3g} eps, more than {eps:g}{reason}\n got {got}\nwant {want}"
    )
