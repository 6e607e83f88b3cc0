/** Small linear algebra: 3-vectors, 4x4 matrices in WebGL's order (columns), and one damped solve. */

/** @typedef {number[] | Float64Array} Vector */

/** @type {(a: Vector, b: Vector) => number[]} */
export const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
/** @type {(a: Vector, b: Vector) => number[]} */
export const subtract = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
/** @type {(a: Vector, k: number) => number[]} */
export const scale = (a, k) => [a[0] * k, a[1] * k, a[2] * k];
/** @type {(a: number[], b: Vector) => number} */
export const dot = (a, b) => a.reduce((sum, x, k) => sum + x * b[k], 0);
/** @type {(a: Vector) => number} */
export const norm = (a) => Math.hypot(a[0], a[1], a[2]);
/** @type {(a: Vector) => number[]} */
export const unit = (a) => scale(a, 1 / (norm(a) || 1));
/** @type {(a: Vector, b: Vector) => number[]} */
export const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
/**
 * So much of each of three vectors, added up.
 * @type {(axes: Vector[], k: Vector) => number[]}
 */
export const mix = (axes, k) => add(add(scale(axes[0], k[0]), scale(axes[1], k[1])), scale(axes[2], k[2]));
/**
 * A direction across another.
 * @type {(a: Vector) => number[]}
 */
export const across = (a) => unit(cross(a, Math.abs(a[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0]));

/**
 * Numbers that lie one after the other, as rows.
 * @param {Vector} numbers
 * @param {number} width
 */
export function rowsOf(numbers, width) {
  return Array.from({ length: numbers.length / width }, (_, k) => [...numbers.slice(k * width, (k + 1) * width)]);
}

/**
 * The product of two 4x4 matrices.
 * @param {Vector} a
 * @param {Vector} b
 */
export function times(a, b) {
  const entry = (/** @type {number} */ i) =>
    [0, 1, 2, 3].reduce((sum, k) => sum + a[4 * k + (i % 4)] * b[4 * (i >> 2) + k], 0);
  return Array.from({ length: 16 }, (_, i) => entry(i));
}

/**
 * @param {number} angle vertical angle of view [rad]
 * @param {number} aspect
 * @param {number} near
 * @param {number} far
 */
export function perspective(angle, aspect, near, far) {
  const f = 1 / Math.tan(angle / 2);
  const depth = (far + near) / (near - far);
  return [f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, depth, -1, 0, 0, (2 * far * near) / (near - far), 0];
}

/**
 * @param {Vector} eye
 * @param {Vector} target
 * @param {Vector} up
 */
export function lookAt(eye, target, up) {
  const back = unit(subtract(eye, target));
  const right = unit(cross(up, back));
  const top = cross(back, right);
  const rows = [right, top, back];
  const columns = [0, 1, 2].map((k) => [...rows.map((row) => row[k]), 0]);
  return [...columns.flat(), ...rows.map((row) => -dot(row, eye)), 1];
}

/**
 * A point on the screen: x and y from -1 to 1, and its depth.
 * @param {Vector} matrix
 * @param {Vector} p
 */
export function project(matrix, p) {
  const out = [0, 1, 2, 3].map(
    (row) => matrix[row] * p[0] + matrix[4 + row] * p[1] + matrix[8 + row] * p[2] + matrix[12 + row],
  );
  return [out[0] / out[3], out[1] / out[3], out[3]];
}

/**
 * x with A x = b for a small symmetric positive definite A (rows), by elimination.
 * @param {number[][]} A
 * @param {number[]} b
 */
export function solve(A, b) {
  const n = b.length;
  const rows = A.map((row, i) => [...row, b[i]]);
  for (let k = 0; k < n; k++) {
    for (let i = k + 1; i < n; i++) {
      const factor = rows[i][k] / rows[k][k];
      for (let j = k; j <= n; j++) rows[i][j] -= factor * rows[k][j];
    }
  }
  const x = new Array(n).fill(0);
  for (let k = n - 1; k >= 0; k--) {
    let rest = rows[k][n];
    for (let j = k + 1; j < n; j++) rest -= rows[k][j] * x[j];
    x[k] = rest / rows[k][k];
  }
  return x;
}

/**
 * The step of joints that moves a point by `error` (rows of J), damped: Jᵀ (J Jᵀ + λ² 1)⁻¹ error.
 * @param {number[][]} J
 * @param {number[]} error
 * @param {number} damping
 */
export function dampedStep(J, error, damping) {
  const gram = J.map((a, i) => J.map((b, j) => dot(a, b) + (i === j ? damping * damping : 0)));
  const y = solve(gram, error);
  return J[0].map((_, k) => J.reduce((sum, row, i) => sum + row[k] * y[i], 0));
}
