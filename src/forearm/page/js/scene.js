/** The arm as solids: links from joint to joint, bodies, frames, the hand, its path, the load, the floor. */
import { add, cross, dot, norm, scale, solve, subtract, unit } from "./linear.js";
import { Solids } from "./renderer.js";

const AXES = [
  [0.75, 0.26, 0.18, 1],
  [0.27, 0.58, 0.36, 1],
  [0.18, 0.42, 0.72, 1],
];
/** Places of a look, taken apart. */
export class Places {
  /**
   * @param {{frames: Float64Array, centers: Float64Array, J: Float64Array, potential: Float64Array}} look
   * @param {number} n
   */
  constructor(look, n) {
    const { frames } = look;
    this.n = n;
    this.rotations = Array.from({ length: n + 2 }, (_, k) => Array.from(frames.subarray(12 * k, 12 * k + 9)));
    this.points = Array.from({ length: n + 2 }, (_, k) => Array.from(frames.subarray(12 * k + 9, 12 * k + 12)));
    this.centers = Array.from({ length: n }, (_, k) => Array.from(look.centers.subarray(3 * k, 3 * k + 3)));
    this.J = Array.from({ length: 6 }, (_, k) => Array.from(look.J.subarray(n * k, n * k + n)));
    this.potential = look.potential[0];
  }

  get tool() {
    return this.points[this.n + 1];
  }

  /**
   * Column j of the rotation of frame k.
   * @param {number} k
   * @param {number} j
   */
  axis(k, j) {
    const R = this.rotations[k];
    return [R[j], R[3 + j], R[6 + j]];
  }

  /**
   * A vector of frame k in the world's axes.
   * @param {number} k
   * @param {import("./linear.js").Vector} v
   */
  turned(k, v) {
    return add(add(scale(this.axis(k, 0), v[0]), scale(this.axis(k, 1), v[1])), scale(this.axis(k, 2), v[2]));
  }
}

/**
 * How far the chain reaches at most [m].
 * @param {Places} places
 */
export function reachOf(places) {
  const steps = places.points.slice(1).map((p, k) => norm(subtract(p, places.points[k])));
  return steps.reduce((a, b) => a + b, 0) || 1;
}

/**
 * Directions in which the hand is easy to accelerate: axes of J M⁻¹ Jᵀ, the longest of length 1.
 * @param {number[][]} J
 * @param {number[][]} M
 */
export function easeAxes(J, M) {
  const rows = J.slice(0, 3);
  const answers = rows.map((row) => solve(M, row));
  let A = rows.map((row) => answers.map((x) => row.reduce((sum, y, k) => sum + y * x[k], 0)));
  let V = [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ];
  for (let sweep = 0; sweep < 12; sweep++) {
    for (const [p, q] of [
      [0, 1],
      [0, 2],
      [1, 2],
    ]) {
      if (Math.abs(A[p][q]) < 1e-300) continue;
      const angle = 0.5 * Math.atan2(2 * A[p][q], A[q][q] - A[p][p]);
      const [c, s] = [Math.cos(angle), Math.sin(angle)];
      const turn = (/** @type {number[]} */ row) =>
        row.map((x, k) => (k === p ? c * x - s * row[q] : k === q ? s * row[p] + c * x : x));
      A = A.map(turn);
      A = [0, 1, 2].map((k) => turn([A[0][k], A[1][k], A[2][k]])); // symmetric: columns are rows
      V = V.map(turn);
    }
  }
  const sizes = [0, 1, 2].map((k) => Math.max(A[k][k], 0));
  const largest = Math.max(...sizes) || 1;
  return sizes.map((size, k) => scale([V[0][k], V[1][k], V[2][k]], Math.max(size / largest, 0.02)));
}

/**
 * What there is to draw.
 * @param {Places} places
 * @param {{data: import("./model.js").Data, size: number, layers: Record<string, boolean>, dark: boolean, held: boolean,
 *          load: import("./model.js").Load, gravity: number[], path: number[][], ghost: Places | null,
 *          ease: number[][] | null}} look
 */
export function buildScene(places, look) {
  const { data, size, layers, dark } = look;
  const [opaque, thin, glass] = [new Solids(), new Solids(), new Solids()];
  const { n } = places;
  const bone = dark ? [0.68, 0.75, 0.8, 1] : [0.9, 0.92, 0.93, 1];
  const metal = dark ? [0.2, 0.52, 0.53, 1] : [0.13, 0.4, 0.43, 1];
  const gold = [0.88, 0.62, 0.2, 1];
  const radius = (/** @type {number} */ k) => size * (0.034 - (0.016 * k) / n);
  opaque.capsule(add(places.points[0], [0, 0, -0.001 * size]), places.points[0], 0.05 * size, metal);
  for (let k = 0; k < n; k++) {
    const [a, b] = [places.points[k], places.points[k + 1]];
    const z = places.axis(k, 2);
    const elbow = add(a, scale(z, dot(z, subtract(b, a))));
    opaque.capsule(a, elbow, radius(k), bone);
    opaque.capsule(elbow, b, radius(k), bone);
    const half = scale(z, 0.045 * size - (0.018 * size * k) / n);
    opaque.capsule(
      subtract(a, half),
      add(a, half),
      1.12 * radius(k),
      data.joints[k].kind === "R" ? metal : [0.55, 0.42, 0.65, 1],
    );
  }
  opaque.capsule(places.points[n], places.tool, 0.6 * radius(n), bone);
  opaque.capsule(places.tool, places.tool, (look.held ? 0.036 : 0.03) * size, gold);
  if (look.ghost) {
    const corners = look.ghost.points;
    for (let k = 0; k <= n; k++) glass.capsule(corners[k], corners[k + 1], 0.7 * radius(k), [0.5, 0.6, 0.66, 0.35]);
  }
  if (layers.bodies) {
    data.bodies.forEach((body, k) => {
      opaque.capsule(places.centers[k], places.centers[k], 0.011 * size, [0.25, 0.2, 0.12, 1]);
      if (body)
        glass.ellipsoid(
          places.centers[k],
          body.axes.map((axis) => places.turned(k + 1, axis)),
          [0.93, 0.68, 0.28, 0.4],
        );
    });
  }
  if (layers.frames) {
    for (let k = 0; k <= n + 1; k++) {
      const long = (k === 0 || k === n + 1 ? 0.15 : 0.09) * size;
      AXES.forEach((color, j) =>
        thin.capsule(places.points[k], add(places.points[k], scale(places.axis(k, j), long)), 0.005 * size, color),
      );
    }
  }
  if (layers.path) {
    for (let k = 1; k < look.path.length; k++)
      thin.capsule(look.path[k - 1], look.path[k], 0.004 * size, [0.8, 0.34, 0.18, 1]);
  }
  if (look.ease && layers.ease)
    glass.ellipsoid(
      places.tool,
      look.ease.map((axis) => scale(axis, 0.16 * size)),
      [0.2, 0.6, 0.65, 0.4],
    );
  if (look.load.mass > 0) {
    const at = add(places.tool, places.turned(n + 1, [look.load.x, look.load.y, look.load.z]));
    opaque.capsule(
      at,
      at,
      Math.min(0.12 * size, Math.cbrt((0.75 * look.load.mass) / (Math.PI * 2700))),
      [0.62, 0.28, 0.2, 1],
    );
  }
  const pull = norm(look.gravity);
  if (pull && Math.abs(look.gravity[2] + pull) > 1e-9 * pull) arrow(thin, size, unit(look.gravity));
  return { opaque, thin, glass };
}

/**
 * An arrow that shows where things fall, where that is not straight down.
 * @param {Solids} solids
 * @param {number} size
 * @param {number[]} down
 */
function arrow(solids, size, down) {
  const start = [-0.55 * size, -0.55 * size, 0.25 * size];
  const end = add(start, scale(down, 0.28 * size));
  const color = [0.66, 0.24, 0.16, 1];
  const side = unit(cross(down, Math.abs(down[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0]));
  solids.capsule(start, end, 0.008 * size, color);
  for (const sign of [1, -1])
    solids.capsule(end, add(end, add(scale(down, -0.07 * size), scale(side, sign * 0.04 * size))), 0.008 * size, color);
}

/**
 * Lines of the floor, fading with distance.
 * @param {number} size
 * @param {number} height
 * @param {boolean} dark
 */
export function floorLines(size, height, dark) {
  const step = 10 ** Math.floor(Math.log10(size)) / (size / 10 ** Math.floor(Math.log10(size)) < 3 ? 5 : 1);
  const far = step * Math.ceil((1.6 * size) / step);
  const lines = /** @type {number[]} */ ([]);
  const color = dark ? [0.5, 0.6, 0.66] : [0.42, 0.52, 0.58];
  const alpha = (/** @type {number} */ x, /** @type {number} */ y) =>
    0.5 * Math.max(0, 1 - Math.hypot(x, y) / far) ** 1.5;
  const put = (/** @type {number} */ x, /** @type {number} */ y) => lines.push(x, y, height, ...color, alpha(x, y));
  for (let a = -far; a <= far + step / 2; a += step) {
    for (let b = -far; b < far - step / 2; b += step) {
      put(a, b);
      put(a, b + step);
      put(b, a);
      put(b + step, a);
    }
  }
  return lines;
}
