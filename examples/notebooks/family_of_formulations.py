# %% [markdown]
# # The family of formulations
#
# Between 1965 and 1983 the same torque was derived a dozen times: by Lagrange and by Newton and Euler, with 4x4
# and with 3x3 matrices, in base and in link coordinates. Here they all are, one file each, and run on one arm.

# %%
import numpy as np

import forearm as fa

for stem, paper in fa.FORMULATIONS.items():
    print(f"{stem:38}{paper.order:8}{', '.join(paper.gives)}")

# %% [markdown]
# ## One torque
#
# All that give joint torques, on the PUMA 560 without its drives, at one random state.

# %%
arm = fa.load("puma560").without_drives()
state = arm.random_state(seed=1)
reference = fa.inverse_dynamics(arm, *state)
torques = {}
for stem, paper in fa.FORMULATIONS.items():
    if "joint_torques" in paper.gives and not paper.needs and paper.accepts(arm):
        torques[stem] = np.array(paper.joint_torques(arm, *state), dtype=float)
        error = np.abs(torques[stem] - reference).max() / np.abs(reference).max()
        assert error < 1e-12
print(len(torques), "formulations agree with the compiled kernel to 1e-12")

# %% [markdown]
# ## Exercise 1
#
# That they agree at one state is no proof. `fa.prove_equal` runs formulations on letters and compares the formulas. How
# many terms have the torques of `rr`, multiplied out, and do three formulations of your choice have the same?
#
# ### Solution

# %%
proof = fa.prove_equal(
    fa.symbolic(fa.load("rr")), ["hollerbach_1980_3x3", "luh_walker_paul_1980", "giacaglia_kottke_2007"]
)
print(proof.holds, proof.exact, proof.terms)
assert proof.holds

# %% [markdown]
# ## Exercise 2
#
# Strobing: M, C and g can be had from anybody's inverse dynamics by asking it for well chosen torques. Get column 2 of
# M(q) from `luh_walker_paul_1980` with two calls, and compare with `fa.mass_matrix`.
#
# ### Solution

# %%
paper = fa.FORMULATIONS["luh_walker_paul_1980"]
q, rest = state[0], np.zeros(arm.n)
unit = np.eye(arm.n)[1]
column = paper.joint_torques(arm, q, rest, unit) - paper.joint_torques(arm, q, rest, rest)
assert np.allclose(column, fa.mass_matrix(arm, q)[:, 1])
print(np.round(column.astype(float), 6))

# %% [markdown]
# ## Exercise 3
#
# Turney, Mudge and Lee's Lagrangian is for revolute joints only. Which formulations take the Stanford arm, whose third
# joint slides, and do those agree?
#
# ### Solution

# %%
stanford = fa.load("stanford").without_drives()
q, qd, qdd = stanford.random_state(seed=2)
want = fa.inverse_dynamics(stanford, q, qd, qdd)
for stem, paper in fa.FORMULATIONS.items():
    if "joint_torques" in paper.gives and not paper.needs:
        if not paper.accepts(stanford):
            print("revolute joints only:", stem)
        else:
            assert np.allclose(np.array(paper.joint_torques(stanford, q, qd, qdd), dtype=float), want)
