"""Spatial-vector algorithms (Pinocchio's: RNEA, CRBA, ABA) written in CasADi, generated as C, compiled with gcc.

The pin wheel has no CasADi inside, so the same algorithms are written here on Pinocchio's own model: frames at
the joints, constant placements and inertias folded, common subexpressions eliminated by CasADi. For PUMA 560's
torques that gives 650 instructions; Pinocchio's own trace has been reported with 644. The generated function is
called in a C loop over rows, compiled with gcc -O3 -march=native -ffp-contract=fast.

The same statements also stand in a loop over columns (n, N), where gcc vectorises them across states, sines and cosines
by libmvec (up to 4 ulp) and -ffast-math: the best that a compiler makes of generated C, with less exact arithmetic.
"""

import ctypes
import re
import subprocess
import tempfile
from pathlib import Path

import casadi as ca
import numpy as np

LOOP = """
void loop(const double* a, const double* b, const double* c, double* out, long n, long rows, long size) {{
  double w[{work} + 1]; casadi_int iw[{iwork} + 1];
  for (long i = 0; i < rows; ++i) {{
    const double* arg[8] = {{ a + i * n, b + i * n, c + i * n }};
    double* res[8] = {{ out + i * size }};
    {name}(arg, res, iw, w, 0);
  }}
}}
"""

COLUMNS = """
#define casadi_sq(x) ((x) * (x))
#include <math.h>
void columns(const double* restrict x0, const double* restrict x1, const double* restrict x2, double* restrict out,
             long rows) {{
  #pragma omp simd
  for (long i = 0; i < rows; ++i) {{
{body}
  }}
}}
"""


def _columns_text(text):
    """The statements of the generated function, in a loop over states."""
    body = text[text.index("casadi_real a0") :]
    body = body[: body.index("return 0;")].replace("casadi_real", "double")
    body = re.sub(r"arg\[(\d)\]\? arg\[\d\]\[(\d+)\] : 0", r"x\1[\2 * rows + i]", body)
    body = re.sub(r"if \(res\[0\]!=0\) res\[0\]\[(\d+)\]=", r"out[\1 * rows + i]=", body)
    return COLUMNS.format(body=body)


def _skew(v):
    return ca.vertcat(ca.horzcat(0, -v[2], v[1]), ca.horzcat(v[2], 0, -v[0]), ca.horzcat(-v[1], v[0], 0))


class Spatial:
    """The model on CasADi's scalars: twists and wrenches as pairs of 3-vectors (linear, angular)."""

    def __init__(self, model, q):
        self.n = model.njoints - 1
        self.model = model
        self.R, self.p, self.inertia = [], [], []
        for i in range(1, self.n + 1):
            M = model.jointPlacements[i]
            c, s = ca.cos(q[i - 1]), ca.sin(q[i - 1])
            turn = ca.vertcat(ca.horzcat(c, -s, 0), ca.horzcat(s, c, 0), ca.horzcat(0, 0, 1))
            self.R.append(ca.mtimes(_clean(M.rotation), turn))
            self.p.append(_clean(M.translation))
            body = model.inertias[i]
            self.inertia.append((body.mass, _clean(body.lever), _clean(body.inertia)))

    def rnea(self, qd, qdd):
        z = ca.SX([0, 0, 1])
        v, w = ca.SX.zeros(3), ca.SX.zeros(3)
        a, al = -ca.SX(np.array(self.model.gravity.linear)), ca.SX.zeros(3)
        forces = []
        for i in range(self.n):
            R, p = self.R[i], self.p[i]
            v, w = R.T @ (v + ca.cross(w, p)), R.T @ w
            a, al = R.T @ (a + ca.cross(al, p)), R.T @ al
            joint = z * qd[i]
            w = w + joint
            a = a + ca.cross(v, joint)
            al = al + z * qdd[i] + ca.cross(w, joint)
            forces.append(self._force(i, v, w, a, al))
        tau = [None] * self.n
        f, m = ca.SX.zeros(3), ca.SX.zeros(3)
        for i in range(self.n - 1, -1, -1):
            f, m = forces[i][0] + f, forces[i][1] + m
            tau[i] = m[2]
            f = self.R[i] @ f
            m = self.R[i] @ m + ca.cross(self.p[i], f)
        return ca.vertcat(*tau)

    def _force(self, i, v, w, a, al):
        """I a + v x* I v."""
        mass, c, inertia = self.inertia[i]

        def momentum(lin, ang):
            h = mass * (lin - ca.cross(c, ang))
            return h, inertia @ ang + ca.cross(c, h)

        h, k = momentum(v, w)
        f, m = momentum(a, al)
        return f + ca.cross(w, h), m + ca.cross(w, k) + ca.cross(v, h)

    def crba(self):
        """Composite rigid bodies: mass, first moment, inertia about the joint."""
        M = ca.SX.zeros(self.n, self.n)
        mass, h, J = 0.0, ca.SX.zeros(3), ca.SX.zeros(3, 3)
        for j in range(self.n - 1, -1, -1):
            m, c, inertia = self.inertia[j]
            mass, h = mass + m, h + m * c
            J = J + inertia - m * _skew(c) @ _skew(c)
            f, k = ca.vertcat(-h[1], h[0], 0), J[:, 2]
            for i in range(j, -1, -1):
                M[i, j] = M[j, i] = k[2]
                f = self.R[i] @ f
                k = self.R[i] @ k + ca.cross(self.p[i], f)
            R, p = self.R[j], self.p[j]
            h, J = R @ h, R @ J @ R.T
            J = J - _skew(p) @ _skew(h) - _skew(h) @ _skew(p) - mass * _skew(p) @ _skew(p)
            h = h + mass * p
        return M

    def forward(self, qd, tau):
        """CRBA, bias and LDLᵀ (cheaper than ABA for seven joints)."""
        M, b = self.crba(), tau - self.rnea(qd, ca.SX.zeros(self.n))
        return _ldl_solve(M, b)


def _ldl_solve(M, b):
    n = M.shape[0]
    a = [[M[i, j] for j in range(n)] for i in range(n)]
    L, D, x = [[None] * n for _ in range(n)], [None] * n, [b[i] for i in range(n)]
    for k in range(n - 1, -1, -1):
        D[k] = a[k][k]
        for i in range(k):
            L[k][i] = a[k][i] / D[k]
        for i in range(k):
            for j in range(i + 1):
                a[i][j] = a[i][j] - L[k][i] * a[k][j]
    for k in range(n - 1, -1, -1):
        for i in range(k):
            x[i] = x[i] - L[k][i] * x[k]
    x = [v / d for v, d in zip(x, D, strict=True)]
    for k in range(n):
        for i in range(k):
            x[k] = x[k] - L[k][i] * x[i]
    return ca.vertcat(*x)


def _clean(array):
    """A constant with exact zeros and ones where it has them up to round-off."""
    array = np.array(array, dtype=float)
    near = np.round(array)
    return ca.SX(np.where(np.abs(array - near) < 1e-15, near, array))


def build(model, quantity):
    """(function of C-order row arrays, number of CasADi instructions)."""
    n = model.nq
    q, a, b = (ca.SX.sym(k, n) for k in "qab")
    s = Spatial(model, q)
    out = {
        "inverse_dynamics": lambda: s.rnea(a, b),
        "mass_matrix": lambda: s.crba(),
        "forward_dynamics": lambda: s.forward(a, b),
        "rk4": lambda: rk4(model, q, a, b),
    }[quantity]()
    function = ca.Function("f", [q, a, b], [ca.densify(ca.vec(out))], {"cse": True})
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "f.c"
        generator = ca.CodeGenerator("f.c")
        generator.add(function)
        generator.generate(folder + "/")
        text = source.read_text()
        rows = _compiled(
            folder, "rows", text + LOOP.format(work=function.sz_w(), iwork=function.sz_iw(), name="f")
        )
        fast = [
            "-ffast-math",
            "-fopenmp-simd",
            "-fno-builtin-sin",
            "-fno-builtin-cos",
        ]  # else it calls sincos
        columns = _compiled(folder, "columns", _columns_text(text), fast, ["-lmvec"])
    size = int(np.prod(out.shape))
    loop, simd = rows.loop, columns.columns
    loop.argtypes = [ctypes.c_void_p] * 4 + [ctypes.c_long] * 3
    simd.argtypes = [ctypes.c_void_p] * 4 + [ctypes.c_long]

    def run(x, y, z, result):
        """Arrays (N, n)."""
        loop(x.ctypes.data, y.ctypes.data, z.ctypes.data, result.ctypes.data, n, len(x), size)

    def run_columns(x, y, z, result):
        """Arrays (n, N)."""
        simd(x.ctypes.data, y.ctypes.data, z.ctypes.data, result.ctypes.data, x.shape[1])

    return run, run_columns, function.n_instructions()


def _compiled(folder, name, text, flags=(), libraries=()):
    source, library = Path(folder) / f"{name}.c", Path(folder) / f"{name}.so"
    source.write_text(text)
    usual = ["-O3", "-march=native", "-ffp-contract=fast", "-fno-math-errno", "-shared", "-fPIC"]
    command = ["gcc", *usual, *flags, str(source), "-o", str(library), *libraries, "-lm"]
    subprocess.run(command, check=True, capture_output=True)
    return ctypes.CDLL(str(library))


def rk4(model, q, qd, tau, dt=1e-3):
    """One RK4 step, the next state stacked."""
    x = [ca.SX.sym(k, model.nq) for k in ("x", "xd", "t")]
    rates = ca.Function("rates", x, [Spatial(model, x[0]).forward(x[1], x[2])], {"cse": True})
    k1 = qd, rates(q, qd, tau)
    k2 = qd + dt / 2 * k1[1], rates(q + dt / 2 * k1[0], qd + dt / 2 * k1[1], tau)
    k3 = qd + dt / 2 * k2[1], rates(q + dt / 2 * k2[0], qd + dt / 2 * k2[1], tau)
    k4 = qd + dt * k3[1], rates(q + dt * k3[0], qd + dt * k3[1], tau)
    return ca.vertcat(*(y + dt / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]) for i, y in ((0, q), (1, qd))))
