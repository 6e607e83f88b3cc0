/** Lines over time on a canvas, with a cursor that is the time of the 3D view. */
import { element, legend, shown } from "./elements.js";

const HUES = "2a7f86 c8572f e0a33e 5a7bb0 8a5a9e 6a9a4b b0476b 6b7780 3fb8ad 8c5a2b c58be0 9aa832"
  .split(" ")
  .map((hex) => `#${hex}`);

/** @param {number} line */
const colorOf = (line) => HUES[line % HUES.length];

const KEPT = 10; // seconds of history

/** One plot: several lines over the same times. */
class Plot {
  /** @param {{label: string, unit: string, names: string[], seek: (time: number) => void}} options */
  constructor({ label, unit, names, seek }) {
    this.names = names;
    this.unit = unit;
    this.canvas = element("canvas.plot", { role: "img", "aria-label": `${label} over time` });
    this.cursor = element("div.cursor", { "aria-hidden": "true" });
    const caption = element("figcaption", {}, element("b", {}, label), ` [${unit}]`);
    this.ends = ["high", "low", "late"].map((where) => element(`span.end.${where}`));
    this.root = element("figure", {}, caption, element("div.plot-box", {}, this.canvas, this.cursor, ...this.ends));
    /** @type {number[]} */
    this.t = [];
    /** @type {number[][]} */
    this.rows = [];
    /** @type {(number | null)[]} */
    this.limits = [];
    const point = (/** @type {PointerEvent} */ event) => {
      const box = this.canvas.getBoundingClientRect();
      seek(this.t[0] + ((event.clientX - box.left) / box.width) * this.span);
    };
    this.canvas.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
      this.canvas.setPointerCapture(event.pointerId);
      point(event);
    });
    this.canvas.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => event.buttons && point(event));
  }

  /**
   * @param {number[]} t
   * @param {number[][]} rows
   * @param {(number | null)[]} [limits]
   */
  show(t, rows, limits = []) {
    [this.t, this.rows, this.limits] = [t, rows, limits];
    this.draw();
  }

  get span() {
    return this.t.length > 1 ? this.t[this.t.length - 1] - this.t[0] : 0;
  }

  draw() {
    const { canvas, t, rows, span } = this;
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (!width || !span) return;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const largest = rows.reduce((top, row) => row.reduce((m, x) => Math.max(m, Math.abs(x)), top), 1e-9) * 1.08;
    const x = (/** @type {number} */ time) => ((time - t[0]) / span) * width;
    const y = (/** @type {number} */ value) => height / 2 - (value / largest) * (height / 2 - 4);
    const style = getComputedStyle(canvas);
    const level = (/** @type {number} */ value) => {
      pen.beginPath();
      pen.moveTo(0, y(value));
      pen.lineTo(width, y(value));
      pen.stroke();
    };
    pen.strokeStyle = style.getPropertyValue("--line");
    level(0);
    const step = Math.max(1, Math.floor(t.length / (2 * width)));
    this.names.forEach((_, j) => {
      pen.strokeStyle = colorOf(j);
      pen.lineWidth = 1.6;
      pen.beginPath();
      for (let k = 0; k < t.length; k += step) pen.lineTo(x(t[k]), y(rows[k][j]));
      pen.stroke();
    });
    pen.lineWidth = 0.8;
    pen.setLineDash([2, 4]);
    this.limits.forEach((limit, j) => {
      if (limit === null || limit > largest) return;
      pen.strokeStyle = colorOf(j);
      level(limit);
      level(-limit);
    });
    const told = [shown(largest / 1.08, 1), shown(-largest / 1.08, 1), `${shown(t[t.length - 1], 1)} s`];
    this.ends.forEach((/** @type {HTMLElement} */ end, /** @type {number} */ k) => (end.textContent = told[k]));
  }

  /** @param {number} time */
  mark(time) {
    this.cursor.hidden = !this.span;
    if (this.span) this.cursor.style.left = `${(100 * (time - this.t[0])) / this.span}%`;
  }
}

/** Positions, speeds and torques over time: of the motion, or of what just happened. */
export class Curves {
  live = false;
  past = { t: /** @type {number[]} */ ([]), rows: /** @type {number[][][]} */ ([[], [], []]) };

  /**
   * @param {import("./model.js").Data} data
   * @param {(time: number) => void} seek
   */
  constructor({ joints, dynamics }, seek) {
    const names = joints.map((joint) => joint.name);
    const units = (/** @type {string} */ turns, /** @type {string} */ slides) =>
      [...new Set(joints.map(({ kind }) => (kind === "R" ? turns : slides)))].sort().reverse().join(", ");
    this.unit = units("rad", "m");
    const kinds = { position: this.unit, speed: units("rad/s", "m/s"), torque: units("N m", "N") };
    const plotted = Object.entries(kinds).slice(0, dynamics ? 3 : 2);
    this.plots = plotted.map(([label, unit]) => new Plot({ label, unit, names, seek }));
    const colors = names.map((_, j) => colorOf(j));
    this.roots = [legend(names, colors), ...this.plots.map((plot) => plot.root)];
    this.limits = joints.map((joint) => joint.effort);
  }

  forget() {
    this.past = { t: [], rows: [[], [], []] };
  }

  /**
   * @param {number} dt
   * @param {number[][]} state
   */
  remember(dt, state) {
    const { t, rows } = this.past;
    t.push((t[t.length - 1] ?? 0) + dt);
    state.forEach((row, k) => rows[k].push([...row]));
    while (t[t.length - 1] - t[0] > KEPT) [t, ...rows].forEach((column) => column.shift());
  }

  showHistory() {
    if (this.past.t.length < 2) return;
    this.show(this.past.t, this.past.rows);
    this.live = true;
  }

  /**
   * @param {number[]} t
   * @param {number[][][]} rows
   */
  show(t, rows) {
    this.live = false;
    this.plots.forEach((plot, k) => plot.show(t, rows[k], k === 2 ? this.limits : []));
  }

  draw() {
    this.plots.forEach((plot) => plot.draw());
  }

  /**
   * The cursor is the time of the view.
   * @param {number} time
   */
  mark(time) {
    const { t } = this.past;
    this.plots.forEach((plot) => plot.mark(this.live ? t[t.length - 1] : time));
  }
}
