/** The panels beside the arm: torques by term, energy, mass matrix, equations. Each is built once and told numbers. */
import { byId, colored, element, legend, prefix, shown, tell } from "./elements.js";
import { rowsOf } from "./linear.js";

/** @typedef {import("./model.js").Joint} Joint */

const TERM_COLORS = /** @type {Record<string, string>} */ ({
  gravity: "#2a7f86",
  inertial: "#c8572f",
  centrifugal: "#e0a33e",
  coriolis: "#8a5a9e",
  rotor: "#5a7bb0",
  friction: "#8b949b",
});

const QUIET = { "aria-live": "off" }; // what changes sixty times a second is not to be read out each time

/** @param {Joint} joint */
const effortUnit = (joint) => (joint.kind === "R" ? "N m" : "N");

/** Torques of the joints, each a bar that is stacked from its terms, with its limits. */
export class TorqueBars {
  /**
   * @param {Joint[]} joints
   * @param {string[]} terms that the arm has
   */
  constructor(joints, terms) {
    this.joints = joints;
    this.terms = terms;
    this.largest = joints.map((joint) => (joint.effort ? 1.15 * joint.effort : 1e-6));
    this.rows = joints.map((joint, j) => this.row(joint, j));
    const names = this.terms.map((term) => (term === "coriolis" ? "Coriolis" : term));
    const colors = this.terms.map((term) => TERM_COLORS[term]);
    this.root = element("div", {}, legend(names, colors), ...this.rows.map((row) => row.root));
  }

  /**
   * @param {Joint} joint
   * @param {number} j
   */
  row(joint, j) {
    const parts = this.terms.map((term) => colored("i.part", TERM_COLORS[term]));
    parts.forEach((part, k) => (part.dataset.term = this.terms[k]));
    const bands = joint.effort ? [element("i.band.low"), element("i.band.high")] : [];
    const [zero, sum] = [element("i.zero"), element("i.sum")];
    const value = element("output", { id: `tau-${j}`, "aria-label": `torque of ${joint.name}`, ...QUIET });
    const track = element("div.track", { "aria-hidden": "true" }, ...bands, zero, ...parts, sum);
    const limit = joint.effort ? `limit ±${shown(joint.effort, 0)} ${effortUnit(joint)}` : "no limit given";
    const name = element("span.name", {}, joint.name);
    const root = element("div.bar", { title: `${joint.name}: ${limit}` }, name, track, value);
    return { root, parts, sum, bands, value };
  }

  /**
   * @param {number[]} tau
   * @param {Record<string, number[]>} terms
   */
  show(tau, terms) {
    this.joints.forEach((joint, j) => {
      const row = this.rows[j];
      const values = this.terms.map((term) => terms[term][j]);
      const ends = [1, -1].map((sign) => values.reduce((sum, x) => sum + Math.max(0, sign * x), 0));
      const top = Math.max(...ends, Math.abs(tau[j]));
      // a state beyond the kernels' sines has no torques; the scale is to outlive it
      if (Number.isFinite(top) && top > this.largest[j]) this.largest[j] = 1.25 * top;
      const scale = 50 / this.largest[j];
      let [right, left] = [50, 50];
      values.forEach((x, k) => {
        const size = Math.abs(x) * scale;
        const { style, dataset } = row.parts[k];
        if (x < 0) left -= size;
        style.left = `${x < 0 ? left : right}%`;
        style.width = `${size}%`;
        if (x > 0) right += size;
        dataset.value = String(x);
      });
      row.sum.style.left = `${50 + tau[j] * scale}%`;
      if (joint.effort) {
        const inside = Math.max(0, 50 - joint.effort * scale);
        for (const band of row.bands) band.style.width = `${inside}%`;
        row.root.classList.toggle("over", Math.abs(tau[j]) > joint.effort);
      }
    });
    const [one, letter] = prefix(Math.max(...this.largest)); // the same for all, so that they compare
    this.joints.forEach((joint, j) =>
      tell(this.rows[j].value, tau[j], `${shown(tau[j] / one, 2, false)} ${letter}${effortUnit(joint)}`),
    );
  }
}

/** The mass matrix as a heat map. */
export class MassMap {
  /** @param {Joint[]} joints */
  constructor(joints) {
    this.cells = joints.map((_, i) => joints.map((__, j) => element("td", { id: `M-${i}-${j}` })));
    const number = (/** @type {number} */ k, scope = "row") => element("th", { scope }, String(k + 1));
    const head = element("tr", {}, element("th"), ...joints.map((_, j) => number(j, "col")));
    const rows = this.cells.map((line, i) => element("tr", {}, number(i), ...line));
    this.caption = element("caption");
    const kinds = new Set(joints.map((joint) => joint.kind));
    this.unit = kinds.size > 1 ? "kg m², kg m, kg" : kinds.has("R") ? "kg m²" : "kg";
    this.root = element("table.mass", {}, this.caption, element("thead", {}, head), element("tbody", {}, ...rows));
    this.root.style.minWidth = `${3.7 * joints.length + 2}em`; // narrower, it scrolls
  }

  /** @param {number[][]} M */
  show(M) {
    const largest = Math.max(...M.flat().map(Math.abs), 1e-12);
    const power = largest >= 1 && largest < 1e4 ? 0 : 3 * Math.floor(Math.log10(largest) / 3); // of small and large arms
    const times = power ? `, × 1e${power}`.replace("-", "−") : "";
    this.caption.textContent = `M(q): what a joint's acceleration (column) asks of each joint (row) [${this.unit}]${times}`;
    M.forEach((line, j) =>
      line.forEach((x, i) => {
        const cell = this.cells[i][j]; // column j is the answer to an acceleration of joint j
        const share = Math.round(100 * Math.sqrt(Math.abs(x) / largest));
        const color = x >= 0 ? "var(--warm)" : "var(--cool)";
        cell.style.background = `color-mix(in srgb, ${color} ${share}%, transparent)`;
        cell.textContent = shown(x / 10 ** power, largest / 10 ** power < 10 ? 3 : 1, false);
        cell.dataset.value = String(x);
      }),
    );
  }
}

/** A formulation's tagged equations beside the numbers of the present state. */
export class Equations {
  /**
   * @param {import("./model.js").Paper[]} papers
   * @param {Joint[]} joints
   * @param {() => void} change
   */
  constructor(papers, joints, change) {
    this.papers = papers;
    this.which = byId("formulation");
    this.link = byId("equation-link");
    this.which.append(...papers.map((paper, k) => element("option", { value: k }, paper.stem.replaceAll("_", " "))));
    this.link.append(...joints.map((joint, k) => element("option", { value: k + 1 }, `${k + 1}, ${joint.name}`)));
    this.link.addEventListener("change", change);
    this.which.addEventListener("change", () => {
      this.lines = this.build();
      change();
    });
    this.lines = this.build();
  }

  get paper() {
    return this.papers[Number(this.which.value)];
  }

  build() {
    const { paper } = this;
    const meaning = "Every value is what that line of the formulation's file computes, now.";
    byId("about").textContent = `${paper.paper}. ${paper.operations}. ${meaning}`;
    const lines = paper.statements.map(([tag, line]) => {
      const value = element("output", QUIET);
      const root = element("div.equation", {}, element("span.tag", {}, `(${tag})`), element("code", {}, line), value);
      return { root, value };
    });
    byId("equations").replaceChildren(...lines.map((line) => line.root));
    return lines;
  }

  /** @param {Float64Array} values */
  show(values) {
    const link = Number(this.link.value);
    for (const line of this.lines) line.root.hidden = true;
    for (const [statement, name, at, first, shape] of this.paper.rows) {
      if (at !== link && at !== 0) continue;
      const line = this.lines[statement];
      const size = shape.reduce((a, b) => a * b, 1);
      const numbers = [...values.subarray(first, first + size)];
      const rows = rowsOf(numbers, shape.length === 2 ? shape[1] : size);
      const text = rows.map((row) => row.map((x) => shown(x, 3)).join("  ")).join("\n");
      line.root.hidden = false;
      line.value.textContent = `${name} = ${rows.length > 1 ? "\n" : ""}${text}`;
      line.value.dataset.value = JSON.stringify(numbers);
    }
  }
}
