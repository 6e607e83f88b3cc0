/** The arm as solids: links from joint to joint, bodies, frames, the hand, its path, the load, the floor. */
import { across, add, dot, mix, norm, scale, solve, subtract, unit } from "./linear.js";
import { Solids } from "./renderer.js";

/** @typedef {import("./model.js").Places} Places */

/** @param {string} hex red, green, blue, and the opacity where it is not full */
const color = (hex) => [0, 2, 4, 6].map((k) => parseInt(hex.slice(k, k + 2) || "ff", 16) / 255);
const AXES = ["bf422e", "45945c", "2e6bb8"].map(color);
const [GOLD, VIOLET, DARK, RUST, BRICK] = ["e09e33", "8c6ba6", "40331f", "cc572e", "9e4733"].map(color);
const [GHOST, AMBER, SEA] = ["8099a859", "edad4766", "3399a666"].map(color);

/**
 * Axes of an ellipsoid that is long where the hand is easy to accelerate: the columns of A = J M⁻¹ Jᵀ, which takes the
 * ball to the ellipsoid of A's own axes; a little is added so that none is flat.
 * @param {number[][]} J
 * @param {number[][]} M
 */
export function easeAxes(J, M) {
  const rows = J.slice(0, 3);
  const answers = rows.map((row) => solve(M, row));
  const A = rows.map((row) => answers.map((x) => dot(row, x)));
  const size = Math.hypot(...A.flat()) || 1;
  return A.map((row, i) => row.map((x, j) => x / size + (i === j ? 0.02 : 0)));
}

/**
 * What there is to draw.
 * @param {Places} places
 * @param {{data: import("./model.js").Data, layers: Record<string, boolean>, dark: boolean, held: boolean,
 *          load: import("./model.js").Load, gravity: number[], path: number[][], ghost: Places | null,
 *          ease: number[][] | null}} look
 */
export function buildScene(places, look) {
  const { data, layers, load, ease, path, ghost } = look;
  const { size, thickness } = data;
  const { n, points, tool } = places;
  const [opaque, thin, glass] = [new Solids(), new Solids(), new Solids()];
  links(opaque, places, look);
  ghost?.points.slice(1).forEach((p, k) => glass.capsule(ghost.points[k], p, 0.7 * radius(data, k / n), GHOST));
  if (layers.bodies) {
    data.bodies.forEach((body, k) => {
      opaque.ball(places.centers[k], 0.32 * thickness, DARK);
      const axes = body?.axes.map((axis) => places.turned(k + 1, axis));
      if (axes) glass.ellipsoid(places.centers[k], axes, AMBER);
    });
  }
  if (layers.frames) {
    points.forEach((p, k) => {
      const long = (k === 0 || k === n + 1 ? 4.4 : 2.65) * thickness;
      AXES.forEach((color, j) => thin.capsule(p, add(p, scale(places.axis(k, j), long)), 0.15 * thickness, color));
    });
  }
  if (layers.path) path.slice(1).forEach((p, k) => thin.capsule(path[k], p, 0.12 * thickness, RUST));
  if (ease) {
    const axes = ease.map((axis) => scale(axis, 0.16 * size));
    glass.ellipsoid(tool, axes, SEA);
  }
  if (load.mass > 0) {
    const at = add(tool, places.turned(n + 1, [load.x, load.y, load.z]));
    opaque.ball(at, Math.min(0.12 * size, Math.cbrt((0.75 * load.mass) / (Math.PI * 2700))), BRICK);
  }
  const pull = norm(look.gravity);
  if (pull && dot(look.gravity, data.axes[2]) > (1e-9 - 1) * pull) arrow(thin, data, unit(look.gravity));
  return { opaque, thin, glass };
}

/**
 * How thick a link is, some share of the way along the chain.
 * @param {import("./model.js").Data} data
 * @param {number} along
 */
const radius = ({ thickness }, along) => thickness * (1 - 0.47 * along);

/**
 * The chain from the base to the golden hand.
 * @param {Solids} solids
 * @param {Places} places
 * @param {{data: import("./model.js").Data, dark: boolean, held: boolean}} look
 */
function links(solids, places, { data, dark, held }) {
  const { thickness } = data;
  const { n, points, tool } = places;
  const bone = dark ? [0.68, 0.75, 0.8, 1] : [0.9, 0.92, 0.93, 1];
  const metal = dark ? [0.2, 0.52, 0.53, 1] : [0.13, 0.4, 0.43, 1];
  solids.ball(points[0], 1.5 * thickness, metal);
  data.joints.forEach(({ kind }, k) => {
    const [a, b, z] = [points[k], points[k + 1], places.axis(k, 2)];
    const elbow = add(a, scale(z, dot(z, subtract(b, a))));
    const thick = radius(data, k / n);
    solids.capsule(a, elbow, thick, bone);
    solids.capsule(elbow, b, thick, bone);
    const half = scale(z, 1.32 * thick);
    solids.capsule(subtract(a, half), add(a, half), 1.12 * thick, kind === "R" ? metal : VIOLET);
  });
  solids.capsule(points[n], tool, 0.6 * radius(data, 1), bone);
  const inside = points.slice(0, n).some((p) => norm(subtract(p, tool)) < 1.5 * thickness); // of a joint, which would hide it
  solids.ball(tool, (inside ? 1.4 : held ? 1.06 : 0.88) * thickness, GOLD);
}

/**
 * An arrow that shows where things fall, where that is not straight down.
 * @param {Solids} solids
 * @param {import("./model.js").Data} data
 * @param {number[]} down
 */
function arrow(solids, { size, axes, middle }, down) {
  const start = add(middle, mix(axes, [-0.3 * size, -0.3 * size, 0.2 * size]));
  const end = add(start, scale(down, 0.28 * size));
  solids.capsule(start, end, 0.008 * size, BRICK);
  for (const aside of [0.04 * size, -0.04 * size]) {
    const barb = add(scale(down, -0.07 * size), scale(across(down), aside));
    solids.capsule(end, add(end, barb), 0.008 * size, BRICK);
  }
}

/**
 * Lines of the floor, fading with distance from under the arm's base.
 * @param {import("./model.js").Data} data
 * @param {boolean} dark
 */
export function floorLines({ size, axes, foot }, dark) {
  const step = 10 ** Math.floor(Math.log10(size)) / (size / 10 ** Math.floor(Math.log10(size)) < 3 ? 5 : 1);
  const far = step * Math.ceil((1.6 * size) / step);
  const lines = /** @type {number[]} */ ([]);
  const tint = dark ? [0.5, 0.6, 0.66] : [0.42, 0.52, 0.58];
  const alpha = (/** @type {number} */ x, /** @type {number} */ y) =>
    0.5 * Math.max(0, 1 - Math.hypot(x, y) / far) ** 1.5;
  const [left, front] = foot.map((x) => step * Math.round(x / step));
  const put = (/** @type {number} */ x, /** @type {number} */ y) =>
    lines.push(...mix(axes, [left + x, front + y, foot[2]]), ...tint, alpha(x, y));
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
