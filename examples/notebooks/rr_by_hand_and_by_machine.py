# %% [markdown]
# # RR by hand and by machine
#
# Two revolute joints in a vertical plane. You derive the equations of motion with pencil and paper, or with SymPy; the
# library derives them too, and every line of yours is compared with its own. The page *RR both ways* of the
# documentation is the whole of it; here you do it yourself.

# %%
import numpy as np
import sympy as sp
from IPython.display import SVG

import forearm as fa
from forearm import plots

rr = fa.load("rr")
SVG(plots.svg(plots.lettered_figure(rr, [0.5, 0.7]), "rr"))

# %% [markdown]
# The letters of the figure instead of numbers, and the derivation by energies:

# %%
steps = fa.derive(fa.symbolic(rr)).lagrange_steps()
for i, link in enumerate(steps.links, 1):
    print(f"T{i} =", link.T)
    print(f"V{i} =", link.V)

# %% [markdown]
# ## Exercise 1
#
# Write the speed squared of the second centre of mass, from its place $(l_1 c_1 + l_{c2} c_{12},\ l_1 s_1 + l_{c2}
# s_{12})$. Why does $q_1$ not occur in it?
#
# ### Solution

# %%
l1, lc2, q1, q2, qd1, qd2 = sp.symbols("l1 lc2 q1 q2 qd1 qd2")
place = sp.Matrix([l1 * sp.cos(q1) + lc2 * sp.cos(q1 + q2), l1 * sp.sin(q1) + lc2 * sp.sin(q1 + q2)])
velocity = place.jacobian([q1, q2]) * sp.Matrix([qd1, qd2])
mine = sp.simplify(velocity.dot(velocity))
print(mine)
assert sp.simplify(mine - steps.links[1].speed_squared.to_sympy()) == 0

# %% [markdown]
# Turning the whole arm about the first joint changes no speed: only the angle between the links can occur.
#
# ## Exercise 2
#
# From $L = T - V$ derive $\tau_2 = \frac{d}{dt}\frac{\partial L}{\partial \dot q_2} - \frac{\partial L}{\partial q_2}$.
# Which term of $\partial L/\partial q_2$ comes from the kinetic energy, and what is it called?
#
# ### Solution

# %%
qdd1, qdd2 = sp.symbols("qdd1 qdd2")
L = steps.L.to_sympy()
momentum = sp.diff(L, qd2)
rate = sum(sp.diff(momentum, a) * b for a, b in ((q1, qd1), (q2, qd2), (qd1, qdd1), (qd2, qdd2)))
tau2 = sp.expand(rate - sp.diff(L, q2))
print("tau2 =", sp.collect(tau2, [qdd1, qdd2, qd1]))
assert sp.simplify(tau2 - steps.tau[1].to_sympy()) == 0
print("dL/dq2 =", steps.dL_dq[1])

# %% [markdown]
# The one with $\dot q_1(\dot q_1 + \dot q_2)$; together with the rate of the momentum it leaves
# $m_2 l_1 l_{c2} s_2 \dot q_1^2$, the centrifugal torque.
#
# ## Exercise 3
#
# Newton and Euler: the force that the elbow carries, in the axes of link 2, is $f_2 = m_2 (a_{c2} - g_2)$. Compute
# it at a state of your choice and compare with `fa.reactions`. Which of the six numbers does the motor supply?
#
# ### Solution

# %%
walk = fa.derive(fa.symbolic(rr), "newton_euler_notes")
print("f2 =", *walk.steps["f"][1], sep="\n   ")
q, qd, qdd = [0.5, 0.7], [1.0, -0.5], [2.0, 1.0]
known = fa.parameters_of("rr") | dict(q1=q[0], q2=q[1], qd1=qd[0], qd2=qd[1], qdd1=qdd[0], qdd2=qdd[1])
mine = [float(x.evaluate(known.__getitem__)) for x in walk.steps["f"][1]]
loads = fa.reactions(rr, q, qd, qdd)
print(np.round(mine, 6), loads.force[1].round(6))
assert np.allclose(mine, loads.force[1])
print("the motor supplies", loads.drive[1].round(6), "N m; the bearing", loads.bearing_force[1].round(3), "N")

# %% [markdown]
# ## Exercise 4
#
# The built-in arm `planar_3r` has three links. Guess from $\tau_3$ of `rr`'s pattern what gravity contributes to
# $\tau_3$, then look.
#
# ### Solution

# %%
three = fa.derive(fa.symbolic(fa.load("planar_3r")))
print("g3 =", three.g[2])
print("M13 =", three.M[0, 2])
assert str(three.g[2]) == "m3*g*lc3*c123"
