/**
 * The arm in the page: what its kernels compute, and motions. No DOM here.
 *
 * @typedef {{name: string, kind: "R" | "P", limits: (number | null)[], speed: number | null,
 *            effort: number | null, rotor: number}} Joint
 * @typedef {{mass: number, center: number[], axes: number[][]}} Body
 * @typedef {{stem: string, paper: string, operations: string, kernel: string, statements: [string, string][],
 *            rows: [number, string, number, number, number[]][]}} Paper
 * @typedef {{name: string, joints: Joint[], bodies: (Body | null)[], configurations: Record<string,
 *            number[]>, q: number[], gravity: number[], mass: number, dynamics: boolean, frictional: boolean, terms: string[],
 *            size: number, thickness: number, seen: number, middle: number[], axes: number[][], foot: number[], papers: Paper[],
 *            module: string, interface: Record<string, any>, motion: string}} Data
 * @typedef {{mass: number, x: number, y: number, z: number}} Load
 */

import { dampedStep, dot, mix, norm, rowsOf, scale, solve, subtract } from "./linear.js";

/**
 * The ten parameters of a point mass in the tool's axes.
 * @param {Load} load
 */
export function tenNumbers({ mass, x, y, z }) {
  const moments = [y * y + z * z, -x * y, -x * z, z * z + x * x, -y * z, x * x + y * y];
  return [1, x, y, z, ...moments].map((one) => mass * one);
}

/** Places of a look, taken apart. */
export class Places {
  /**
   * @param {{frames: Float64Array, centers: Float64Array, J: Float64Array, potential: Float64Array}} look
   * @param {number} n
   */
  constructor(look, n) {
    const frames = rowsOf(look.frames, 12);
    this.n = n;
    this.rotations = frames.map((frame) => frame.slice(0, 9));
    this.points = frames.map((frame) => frame.slice(9));
    this.centers = rowsOf(look.centers, 3);
    this.J = rowsOf(look.J, n);
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
    return mix([this.axis(k, 0), this.axis(k, 1), this.axis(k, 2)], v);
  }
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
    return new Places(this.kernels.look(q, this.payload, this.gravity), this.n);
  }

  /**
   * Torques of many states at once, as (q, qd, qdd, gravity) each.
   * @param {number[][][]} states
   * @param {number[]} [held] ten numbers of the load
   * @returns {Float64Array}
   */
  torques(states, held = this.payload) {
    const [q, qd, qdd, gravity] = [0, 1, 2, 3].map((k) => states.flatMap((state) => state[k]));
    const payload = states.flatMap(() => held);
    const found = this.kernels.torques(q, qd, qdd, payload, gravity);
    if (this.share === 1) return found;
    const friction = this.kernels.friction(qd);
    return found.map((/** @type {number} */ x, /** @type {number} */ k) => x - (1 - this.share) * friction[k]);
  }

  /**
   * The torque and its terms, M, and the energies of one state.
   * @param {number[]} q
   * @param {number[]} qd
   * @param {number[]} qdd
   */
  dynamics(q, qd, qdd) {
    const { still } = this;
    const none = [0, 0, 0];
    const alone = (/** @type {number} */ j, /** @type {number} */ x) => still.map((_, k) => (k === j ? x : 0));
    const found = this.torques([
      [q, qd, qdd, this.gravity],
      [q, still, still, this.gravity],
      [q, qd, still, none],
      ...qd.map((x, j) => /** @type {any} */ ([q, alone(j, x), still, none])),
      ...qd.map((_, j) => /** @type {any} */ ([q, still, alone(j, 1), none])),
    ]);
    const [tau, gravity, velocity, ...rest] = rowsOf(found, this.n);
    const [squares, M] = [rest.slice(0, this.n), rest.slice(this.n)];
    const friction = Array.from(this.kernels.friction(qd), (x) => this.share * Number(x));
    const rotor = this.data.joints.map((joint, i) => joint.rotor * qdd[i]);
    const inertial = M.map((line, i) => dot(line, qdd) - rotor[i]);
    const centrifugal = friction.map((x, i) => squares.reduce((sum, row) => sum + row[i], 0) - x);
    const coriolis = velocity.map((x, i) => x - friction[i] - centrifugal[i]);
    const kinetic = 0.5 * M.reduce((sum, line, i) => sum + qd[i] * dot(line, qd), 0);
    return { tau, terms: { gravity, inertial, centrifugal, coriolis, rotor, friction }, M, kinetic };
  }

  /**
   * Accelerations of the arm let go, or under computed torque towards targets.
   * @param {number[]} q
   * @param {number[]} qd
   * @param {{goal: number[], rate: number[], push: number[], kp: number[], kd: number[], believed: number[]} | null} aim
   */
  accelerations(q, qd, aim) {
    const { tau: bias, M } = this.dynamics(q, qd, this.still);
    const push = aim?.push.map((x, j) => x + aim.kp[0] * (aim.goal[j] - q[j]) + aim.kd[0] * (aim.rate[j] - qd[j]));
    const given = push ? this.torques([[q, qd, push, this.gravity]], aim?.believed) : this.still;
    const rest = bias.map((x, j) => given[j] - x);
    return solve(M, rest);
  }

  /**
   * Joints that bring the tool to a place: damped least squares, joints at their limits left out.
   * @param {number[]} q to begin with
   * @param {number[]} place
   * @param {number[]} [way] along which it need not be met, where the arm cannot go everywhere: the eye does not see it
   */
  reach(q, place, way = [0, 0, 0]) {
    const seen = (/** @type {number[]} */ v) => subtract(v, scale(way, 0.97 * dot(way, v)));
    const { size } = this.data;
    const locked = new Set();
    for (let k = 0; k < 40; k++) {
      const now = this.look(q);
      const error = subtract(place, now.tool);
      const far = norm(error);
      if (far < 1e-7 * size) break;
      const columns = q.map((_, j) => (locked.has(j) ? [0, 0, 0] : seen(now.J.slice(0, 3).map((row) => row[j]))));
      const J = [0, 1, 2].map((k) => columns.map((column) => column[k]));
      const step = dampedStep(J, scale(seen(error), Math.min(1, (0.15 * size) / far)), 0.012 * size);
      const most = this.data.joints.map(({ kind }) => (kind === "R" ? 0.4 : 0.4 * size));
      const next = q.map((x, j) => this.within(j, x + Math.max(-most[j], Math.min(most[j], step[j]))));
      next.forEach((x, j) => Math.abs(x - q[j] - step[j]) > 1e-12 && Math.abs(step[j]) < most[j] && locked.add(j));
      q = next;
    }
    return q;
  }

  /**
   * @param {number} joint
   * @param {number} value
   */
  within(joint, value) {
    const [low, high] = this.data.joints[joint].limits;
    return Math.min(high ?? Infinity, Math.max(low ?? -Infinity, value));
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
    const rows = rowsOf(numbers, 1 + 3 * n);
    const times = rows.map((row) => row[0]);
    const [q, qd, qdd] = [0, 1, 2].map((k) => rows.map((row) => row.slice(1 + k * n, 1 + (k + 1) * n)));
    return new Motion(times, q, qd, qdd);
  }

  /**
   * From rest to rest, by a polynomial of fifth degree.
   * @param {number[]} a
   * @param {number[]} b
   * @param {number} duration
   */
  static between(a, b, duration) {
    const still = [a, b].map((q) => q.map(() => 0));
    return new Motion([0, duration], [a, b], still, still);
  }

  /**
   * Times and states all along, as many as a curve needs.
   * @param {number} count
   */
  sample(count = 201) {
    const times = Array.from({ length: count }, (_, k) => this.t[0] + (k / (count - 1)) * (this.duration - this.t[0]));
    return { times, states: times.map((time) => this.at(time)) };
  }

  /**
   * The state at a time; behind its end a motion rests there.
   * @param {number} time
   */
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
    const found = this.q[low].map((_, j) => this.quintic(low, j, h, (when - t[low]) / h));
    const [q, qd, qdd] = [0, 1, 2].map((k) => found.map((x) => (k && time > this.duration ? 0 : x[k])));
    return { q, qd, qdd };
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
