# %% [markdown]
# # Find the misprint
#
# The papers have misprints, and so have you. A printed reading can be tried on the very line that corrects it: take a
# formulation's source, put the printed line back, and ask the laws of mechanics.

# %%
import inspect
import types

import numpy as np

import forearm as fa


def as_printed(stem, ours, printed):
    """The formulation with one line as the paper prints it."""
    source = inspect.getsource(inspect.getmodule(fa.FORMULATIONS[stem].joint_torques))
    assert source.count(ours) == 1
    module = types.ModuleType(stem)
    exec(source.replace(ours, printed), module.__dict__)
    return module.joint_torques


arm = fa.load("generic_3r")
q, qd, qdd = arm.random_state(seed=3)
want = fa.inverse_dynamics(arm, q, qd, qdd)


def told(torques):
    """Relative error of the torques."""
    got = np.array(torques(arm, q, qd, qdd), dtype=float)
    return np.abs(got - want).max() / np.abs(want).max()


# %% [markdown]
# Hollerbach's (16) prints a minus in $\ddot p_j = \ddot p_{j-1} - \ddot W_j p^*_j$:

# %%
line = "pdd[i] = pdd[i - 1] + Wdd[i] @ p_star[i]  # (16)"
wrong = as_printed("hollerbach_1980_3x3", line, line.replace("+ Wdd", "- Wdd"))
print(f"error of the torques with the printed sign: {told(wrong):.2f}")
assert told(wrong) > 0.01 > 1e-12 > told(fa.FORMULATIONS["hollerbach_1980_3x3"].joint_torques)

# %% [markdown]
# ## Exercise 1
#
# You have no reference, only the wrong function. Show with a law of mechanics that it is wrong: M from strobing must be
# symmetric, and the torque at rest the slope of the potential energy. Which law notices?
#
# ### Solution

# %%
rest, units = np.zeros(3), np.eye(3)


def mass_matrix_by(torques):
    """M by strobing."""
    still = torques(arm, q, rest, rest)
    return np.array([torques(arm, q, rest, unit) - still for unit in units], dtype=float).T


M = mass_matrix_by(wrong)
print("M - M^T, largest:", np.abs(M - M.T).max().round(3))
h = 1e-6
slope = [
    (fa.energy(arm, q + h * e, rest).potential - fa.energy(arm, q - h * e, rest).potential) / (2 * h)
    for e in units
]
print(
    "gravity - slope of V, largest:",
    np.abs(np.array(wrong(arm, q, rest, rest), dtype=float) - slope).max().round(3),
)
assert np.abs(M - M.T).max() > 0.01

# %% [markdown]
# The symmetry of M. At rest nothing accelerates, so the line gives gravity right: a check at rest alone would have
# passed.
#
# ## Exercise 2
#
# Three readings of the same section. Which are misprints, which are harmless?

# %%
readings = {
    "a": ("m[i] * pdd[i] + Wdd[i] @ n[i]", "m[i] * pdd[i] - Wdd[i] @ n[i]"),
    "b": ("np.outer(p_star[i], e[i])", "np.outer(p_star[i], 1.0 * e[i])"),
    "c": ("moment = n[i] + M[i] * p_star[i]", "moment = n[i]"),
}

# %% [markdown]
# ### Solution

# %%
for name, (ours, printed) in readings.items():
    size = told(as_printed("hollerbach_1980_3x3", ours, printed))
    print(name, "changes nothing" if size < 1e-12 else f"changes torques by {size:.2f}")

# %% [markdown]
# a is nobody's misprint, but it is caught; b is another way to write the same; c is H5 of the errata: gravity of (15)
# needs the translation that a 3x3 matrix loses.
#
# ## Exercise 3
#
# The paper on the double pendulum says that one of its two brackets in (59) is zero. With absolute angles x, q = (x1,
# x2 - x1), derive the equations and look.
#
# ### Solution

# %%
pendulum = fa.derive(fa.load("double_pendulum"), coordinates=[[1, 0], [-1, 1]])
print("in the second equation, before xd1^2:", pendulum.christoffel[1, 0, 0])
assert not pendulum.christoffel[1, 0, 0].is_zero
