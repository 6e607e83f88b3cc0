/**
 * The arm in the page: what its kernels compute, and motions. No DOM here.
 *
 * @typedef {{name: string, kind: "R" | "P", limits: [number, number] | null, speed: number | null,
 *            effort: number | null, rotor: number}} Joint
 * @typedef {{mass: number, center: number[], axes: number[][]}} Body
 * @typedef {{stem: string, paper: string, operations: string, kernel: string, statements: [string, string][],
 *            rows: [number, string, number, number, number[]][]}} Paper
 * @typedef {{name: string, title: string, joints: Joint[], bodies: (Body | null)[], configurations: Record<string,
 *            number[]>, q: number[], gravity: number[], mass: number, dynamics: boolean, frictional: boolean, papers: Paper[], module: string,
 *            interface: Record<string, any>, motion: string | null, motionRows: number, credit: string}} Data
 * @typedef {{mass: number, x: number, y: number, z: number}} Load
 */

import { solve } from "./linear.js";

export const TERMS = /** @type {const} */ (["gravity", "inertial", "centrifugal", "coriolis", "rotor", "friction"]);

/**
 * The ten parameters of a point mass in the tool's axes.
 * @param {Load} load
 */
export function tenNumbers({ mass: m, x, y, z }) {
  return [
    m,
    m * x,
    m * y,
    m * z,
    m * (y * y + z * z),
    -m * x * y,
    -m * x * z,
    m * (z * z + x * x),
    -m * y * z,
    m * (x * x + y * y),
  ];
}

/** The arm's quantities; payload and gravity are the reader's. */
export class Model {
  /**
   * @param {Data} data
   * @param {Record<string, any>} kernels
   */
  constructor(data, kernels) {
    this.data = data;
    this.kernels = kernels;
    this.n = data.joints.length;
    this.load = { mass: 0, x: 0, y: 0, z: 0 };
    this.gravity = [...data.gravity];
    this.still = new Array(this.n).fill(0);
    this.share = 1; // of the drives' friction
  }

  get payload() {
    return tenNumbers(this.load);
  }

  /** @param {number[]} q */
  look(q) {
    return this.kernels.look(q, this.payload, this.gravity);
  }

  /**
   * Torques of many states at once, as (q, qd, qdd, gravity) each.
   * @param {number[][][]} states
   * @returns {Float64Array}
   */
  torques(states) {
    const columns = [0, 1, 2].map((k) => states.flatMap((state) => state[k]));
    const payload = states.flatMap(() => this.payload);
    const found = this.kernels.torques(
      ...columns,
      payload,
      states.flatMap((state) => state[3]),
    );
    if (this.share === 1) return found;
    const friction = this.kernels.friction(columns[1]);
    return found.map((/** @type {number} */ x, /** @type {number} */ k) => x - (1 - this.share) * friction[k]);
  }

  /**
   * The torque and its terms, M, and the energies of one state.
   * @param {number[]} q
   * @param {number[]} qd
   * @param {number[]} qdd
   */
  dynamics(q, qd, qdd) {
    const { n, still } = this;
    const none = [0, 0, 0];
    const alone = (/** @type {number} */ j, /** @type {number} */ x) => still.map((_, k) => (k === j ? x : 0));
    const found = this.torques([
      [q, qd, qdd, this.gravity],
      [q, still, still, this.gravity],
      [q, qd, still, none],
      ...qd.map((x, j) => /** @type {any} */ ([q, alone(j, x), still, none])),
      ...qd.map((_, j) => /** @type {any} */ ([q, still, alone(j, 1), none])),
    ]);
    const row = (/** @type {number} */ k) => Array.from(found.subarray(k * n, (k + 1) * n));
    const friction = Array.from(this.kernels.friction(qd), (x) => this.share * Number(x));
    const M = qd.map((_, j) => row(3 + n + j));
    const rotors = this.data.joints.map((joint) => joint.rotor);
    const centrifugal = still.map((_, i) => qd.reduce((sum, _x, j) => sum + row(3 + j)[i], 0) - friction[i]);
    const terms = {
      gravity: row(1),
      inertial: M.map((line, i) => line.reduce((sum, x, j) => sum + x * qdd[j], 0) - rotors[i] * qdd[i]),
      centrifugal,
      coriolis: row(2).map((x, i) => x - friction[i] - centrifugal[i]),
      rotor: rotors.map((x, i) => x * qdd[i]),
      friction,
    };
    const kinetic = 0.5 * M.reduce((sum, line, i) => sum + qd[i] * line.reduce((s, x, j) => s + x * qd[j], 0), 0);
    return { tau: row(0), terms, M, kinetic };
  }

  /**
   * Accelerations of the arm let go, or under computed torque towards targets.
   * @param {number[]} q
   * @param {number[]} qd
   * @param {{goal: number[], rate: number[], push: number[], kp: number[], kd: number[], believed: number[]} | null} aim
   */
  accelerations(q, qd, aim) {
    const { tau: bias, M } = this.dynamics(q, qd, this.still);
    if (!aim)
      return solve(
        M,
        bias.map((x) => -x),
      );
    const push = aim.push.map((x, j) => x + aim.kp[0] * (aim.goal[j] - q[j]) + aim.kd[0] * (aim.rate[j] - qd[j]));
    const given = this.kernels.torques(q, qd, push, aim.believed, this.gravity);
    return solve(
      M,
      bias.map((x, j) => given[j] - x),
    );
  }

  /**
   * @param {number} joint
   * @param {number} value
   */
  within(joint, value) {
    const { limits } = this.data.joints[joint];
    return limits ? Math.min(limits[1], Math.max(limits[0], value)) : value;
  }
}

/** A motion sampled in time, smooth between the samples: polynomials of fifth degree through q, qd and qdd. */
export class Motion {
  /**
   * @param {number[]} t
   * @param {number[][]} q
   * @param {number[][]} qd
   * @param {number[][]} qdd
   */
  constructor(t, q, qd, qdd) {
    this.t = t;
    this.q = q;
    this.qd = qd;
    this.qdd = qdd;
  }

  get duration() {
    return this.t[this.t.length - 1];
  }

  /**
   * Rows of t, q, qd, qdd, side by side.
   * @param {Float64Array} numbers
   * @param {number} n
   */
  static fromRows(numbers, n) {
    const width = 1 + 3 * n;
    const rows = Array.from({ length: numbers.length / width }, (_, k) =>
      Array.from(numbers.subarray(k * width, (k + 1) * width)),
    );
    const part = (/** @type {number} */ k) => rows.map((row) => row.slice(1 + k * n, 1 + (k + 1) * n));
    return new Motion(
      rows.map((row) => row[0]),
      part(0),
      part(1),
      part(2),
    );
  }

  /**
   * From rest to rest, by a polynomial of fifth degree.
   * @param {number[]} a
   * @param {number[]} b
   * @param {number} duration
   */
  static between(a, b, duration) {
    const rows = Array.from({ length: 101 }, (_, k) => k / 100);
    const step = (/** @type {(s: number) => number} */ f, /** @type {number} */ power) =>
      rows.map((s) => a.map((x, j) => (power ? 0 : x) + ((b[j] - x) * f(s)) / duration ** power));
    return new Motion(
      rows.map((s) => s * duration),
      step((s) => s ** 3 * (10 - 15 * s + 6 * s * s), 0),
      step((s) => 30 * s * s * (1 - s) ** 2, 1),
      step((s) => 60 * s * (1 - s) * (1 - 2 * s), 2),
    );
  }

  /** @param {number} time */
  at(time) {
    const { t } = this;
    const when = Math.min(Math.max(time, t[0]), this.duration);
    let low = 0;
    for (let high = t.length - 1; high - low > 1; ) {
      const middle = (low + high) >> 1;
      if (t[middle] <= when) low = middle;
      else high = middle;
    }
    const h = t[low + 1] - t[low] || 1;
    const s = (when - t[low]) / h;
    const found = this.q[low].map((_, j) => this.quintic(low, j, h, s));
    return { q: found.map((x) => x[0]), qd: found.map((x) => x[1]), qdd: found.map((x) => x[2]) };
  }

  /**
   * @param {number} k
   * @param {number} j
   * @param {number} h
   * @param {number} s
   */
  quintic(k, j, h, s) {
    const [p0, p1] = [this.q[k][j], this.q[k + 1][j]];
    const [v0, v1] = [h * this.qd[k][j], h * this.qd[k + 1][j]];
    const [a0, a1] = [h * h * this.qdd[k][j], h * h * this.qdd[k + 1][j]];
    const d = p1 - p0 - v0 - a0 / 2;
    const e = v1 - v0 - a0;
    const f = a1 - a0;
    const c = [p0, v0, a0 / 2, 10 * d - 4 * e + f / 2, -15 * d + 7 * e - f, 6 * d - 3 * e + f / 2];
    const value = c.reduceRight((sum, x) => sum * s + x, 0);
    const rate = c.slice(1).reduceRight((sum, x, i) => sum * s + (i + 1) * x, 0);
    const push = c.slice(2).reduceRight((sum, x, i) => sum * s + (i + 1) * (i + 2) * x, 0);
    return [value, rate / h, push / (h * h)];
  }
}
