# %% [markdown]
# # Identify and control a PUMA on paper
#
# You have a PUMA 560 in the laboratory and its description from a book. Its masses and inertias are
# wrong by a fifth, and it knows nothing of motors and friction. Here the
# laboratory is a simulation: move, log, identify, then control with both models and compare. Its three large joints are
# enough, and their dry friction is taken alike in both directions.

# %%
import numpy as np

import forearm as fa
from forearm.simulation import ComputedTorque, Quintic, simulate

book = fa.load("puma560")
large = book.replace(name="puma_3", links=book.links[:3], defects=book.defects, configurations=())


def even(link):
    """The link with the same dry friction both ways."""
    mean = sum(link.drive.coulomb) / 2
    return link.replace(drive=link.drive.replace(coulomb=(mean, mean)))


real = large.replace(links=tuple(map(even, large.links)))
believed = large.without_drives().with_parameters(0.8 * fa.parameters(large), defects="as the book has them")
print(
    real.name, "with", real.n, "joints;", "believed mass of link 2:", round(believed.links[1].mass, 2), "kg"
)

# %% [markdown]
# ## A log
#
# A motion of sums of sines, a log at 500 Hz with noisy torques.

# %%
t = np.arange(0.0, 12.0, 0.002)
rng = np.random.default_rng(0)
w = 2 * np.pi / 12.0 * np.arange(1, 7)
a, b = rng.normal(size=(2, 3, 6)) * 0.35 / np.arange(1, 7)
q = np.einsum("jk,kt->tj", a, np.sin(np.outer(w, t))) + np.einsum("jk,kt->tj", b, np.cos(np.outer(w, t)) - 1)
qd = np.einsum("jk,kt->tj", a * w, np.cos(np.outer(w, t))) - np.einsum(
    "jk,kt->tj", b * w, np.sin(np.outer(w, t))
)
qdd = -np.einsum("jk,kt->tj", a * w**2, np.sin(np.outer(w, t))) - np.einsum(
    "jk,kt->tj", b * w**2, np.cos(np.outer(w, t))
)
tau = fa.inverse_dynamics(real, q, qd, qdd)
tau += 0.01 * np.ptp(tau, axis=0) * rng.normal(size=tau.shape)
print(q.shape, "torques up to", np.abs(tau).max(axis=0).round(1), "N m")

# %% [markdown]
# ## Exercise 1
#
# The torques are linear in the inertial parameters: $\tau = Y(q, \dot q, \ddot q)\,\pi$ + friction. How many of the 30
# parameters can be told apart by any motion at all?
#
# ### Solution

# %%
Y = fa.regressor(large.without_drives(), q[::20], qd[::20], qdd[::20]).reshape(-1, 30)
rank = np.linalg.matrix_rank(Y, tol=1e-9 * np.linalg.norm(Y))
print("rank of the regressor along the motion:", rank, "of", Y.shape[1])
everywhere = fa.regressor(large.without_drives(), *large.random_state(1, (500,))).reshape(-1, 30)
assert rank == np.linalg.matrix_rank(everywhere, tol=1e-9 * np.linalg.norm(everywhere)) == 15

# %% [markdown]
# ## Exercise 2
#
# Identify the arm from the log, friction and rotors included. Does the identified arm predict the torques of another
# motion?
#
# ### Solution

# %%
found = fa.identify(believed, {"t": t, "q": q, "qd": qd, "qdd": qdd, "tau": tau})
other = Quintic(np.zeros(3), np.array([1.0, -0.8, 0.9]), 1.5).sample(200)


def error_of(arm):
    """Root mean square torque error on a motion that was not logged, relative to the torques."""
    want = fa.inverse_dynamics(real, other.q, other.qd, other.qdd)
    got = fa.inverse_dynamics(arm, other.q, other.qd, other.qdd)
    return np.sqrt(np.mean((got - want) ** 2) / np.mean(want**2))


print(f"error of the book's arm {error_of(believed):.0%}, of the identified arm {error_of(found.arm):.1%}")
assert error_of(found.arm) < 0.05 < error_of(believed)

# %% [markdown]
# ## Exercise 3
#
# Computed torque with each model, on the real arm. How much does the tracking error shrink?
#
# ### Solution

# %%
motion = Quintic(np.zeros(3), np.array([1.0, -0.8, 0.9]), 1.5)
worst = {}
for name, model in (("book", believed), ("identified", found.arm), ("exact", real)):
    run = simulate(real, motion.start, law=ComputedTorque(model, motion), duration=1.5, limits="ignore")
    worst[name] = np.degrees(np.abs(run.q - motion.sample(run.t).q).max())
    print(f"{name:12}{worst[name]:8.3f} deg")
assert worst["identified"] < worst["book"] / 5

# %% [markdown]
# ## Exercise 4
#
# Leave out C(q, qd) qd in the controller. What does feedback have to supply then? The page *Can feedback correct it?*
# of the documentation has the answer for five speeds.
