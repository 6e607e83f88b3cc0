/** Lines over time on a canvas, with a cursor that is the time of the 3D view. */
import { element, shown } from "./elements.js";

export const COLORS = ["#2a7f86", "#c8572f", "#e0a33e", "#5a7bb0", "#8a5a9e", "#6a9a4b", "#b0476b", "#6b7780"];

/** One plot: several lines over the same times. */
export class Plot {
  /** @param {{label: string, unit: string, names: string[], seek: (time: number) => void}} options */
  constructor({ label, unit, names, seek }) {
    this.names = names;
    this.unit = unit;
    this.canvas = element("canvas", { class: "plot", role: "img", "aria-label": `${label} over time` });
    this.cursor = element("div", { class: "cursor", "aria-hidden": "true" });
    this.readout = element("span", { class: "readout" });
    this.box = element("div", { class: "plot-box" }, this.canvas, this.cursor);
    this.root = element(
      "figure",
      {},
      element("figcaption", {}, element("b", {}, label), ` [${unit}] `, this.readout),
      this.box,
    );
    /** @type {number[]} */
    this.t = [];
    /** @type {number[][]} */
    this.rows = [];
    const point = (/** @type {PointerEvent} */ event) => {
      const box = this.canvas.getBoundingClientRect();
      if (this.t.length)
        seek(((event.clientX - box.left) / box.width) * (this.t[this.t.length - 1] - this.t[0]) + this.t[0]);
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
    this.t = t;
    this.rows = rows;
    this.limits = limits;
    this.draw();
  }

  draw() {
    const { canvas, t, rows } = this;
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (!width || t.length < 2) return;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const pen = canvas.getContext("2d");
    if (!pen) return;
    pen.scale(ratio, ratio);
    const largest = rows.reduce((top, row) => row.reduce((m, x) => Math.max(m, Math.abs(x)), top), 1e-9) * 1.08;
    const x = (/** @type {number} */ time) => ((time - t[0]) / (t[t.length - 1] - t[0])) * width;
    const y = (/** @type {number} */ value) => height / 2 - (value / largest) * (height / 2 - 4);
    const style = getComputedStyle(canvas);
    pen.strokeStyle = style.getPropertyValue("--line");
    pen.fillStyle = style.getPropertyValue("--soft");
    pen.font = "11px system-ui, sans-serif";
    pen.beginPath();
    pen.moveTo(0, y(0));
    pen.lineTo(width, y(0));
    pen.stroke();
    pen.fillText(shown(largest / 1.08, 1), 4, 12);
    pen.fillText(`${shown(t[t.length - 1], 1)} s`, width - 34, height - 5);
    const step = Math.max(1, Math.floor(t.length / (2 * width)));
    this.names.forEach((_, j) => {
      pen.strokeStyle = COLORS[j % COLORS.length];
      pen.lineWidth = 1.6;
      pen.setLineDash(j >= COLORS.length ? [5, 3] : []);
      pen.beginPath();
      for (let k = 0; k < t.length; k += step) pen.lineTo(x(t[k]), y(rows[k][j]));
      pen.stroke();
    });
    pen.setLineDash([]);
    (this.limits ?? []).forEach((limit, j) => {
      if (limit === null || limit > largest) return;
      pen.strokeStyle = COLORS[j % COLORS.length];
      pen.lineWidth = 0.8;
      pen.setLineDash([2, 4]);
      for (const sign of [1, -1]) {
        pen.beginPath();
        pen.moveTo(0, y(sign * limit));
        pen.lineTo(width, y(sign * limit));
        pen.stroke();
      }
    });
  }

  /** @param {number} time */
  mark(time) {
    const span = this.t.length > 1 ? this.t[this.t.length - 1] - this.t[0] : 0;
    this.cursor.hidden = !span;
    if (span) this.cursor.style.left = `${(100 * (time - this.t[0])) / span}%`;
  }
}

/** @param {string[]} names */
export function legend(names) {
  const entries = names.map((name, j) => {
    const mark = element("i", {});
    mark.style.background = COLORS[j % COLORS.length];
    return element("span", {}, mark, name);
  });
  return element("div", { class: "legend" }, ...entries);
}
