/** The panels beside the arm: torques by term, energy, mass matrix, equations. Each is built once and told numbers. */
import { byId, element, shown, tell } from "./elements.js";
import { TERMS } from "./model.js";

/** @typedef {import("./model.js").Joint} Joint */

export const TERM_COLORS = {
  gravity: "#2a7f86",
  inertial: "#c8572f",
  centrifugal: "#e0a33e",
  coriolis: "#8a5a9e",
  rotor: "#5a7bb0",
  friction: "#8b949b",
};

/** @param {Joint} joint */
export const effortUnit = (joint) => (joint.kind === "R" ? "N m" : "N");

/** Torques of the joints, each a bar that is stacked from its terms, with its limits. */
export class TorqueBars {
  /**
   * @param {Joint[]} joints
   * @param {readonly string[]} present terms that the arm has
   */
  constructor(joints, present) {
    this.joints = joints;
    this.terms = TERMS.filter((term) => present.includes(term));
    this.largest = joints.map((joint) => (joint.effort ? 1.15 * joint.effort : 1e-6));
    this.rows = joints.map((joint, j) => this.row(joint, j));
    const entries = this.terms.map((term) => {
      const mark = element("i", {});
      mark.style.background = TERM_COLORS[term];
      return element("span", {}, mark, term === "coriolis" ? "Coriolis" : term);
    });
    const body = element("div", { class: "bars" }, ...this.rows.map((row) => row.root));
    this.root = element("div", {}, element("div", { class: "legend" }, ...entries), body);
  }

  /**
   * @param {Joint} joint
   * @param {number} j
   */
  row(joint, j) {
    const parts = Object.fromEntries(
      this.terms.map((term) => {
        const part = element("i", { class: "part", "data-term": term });
        part.style.background = TERM_COLORS[term];
        return [term, part];
      }),
    );
    const sum = element("i", { class: "sum" });
    const bands = joint.effort ? [element("i", { class: "band low" }), element("i", { class: "band high" })] : [];
    const value = element("output", { id: `tau-${j}`, "aria-label": `torque of ${joint.name}` });
    const track = element(
      "div",
      { class: "track", "aria-hidden": "true" },
      ...bands,
      element("i", { class: "zero" }),
      ...Object.values(parts),
      sum,
    );
    const limit = joint.effort ? `limit ±${shown(joint.effort, 0)} ${effortUnit(joint)}` : "no limit given";
    const root = element(
      "div",
      { class: "bar", title: limit },
      element("span", { class: "name" }, joint.name),
      track,
      value,
    );
    return { root, parts, sum, bands, value };
  }

  /**
   * @param {number[]} tau
   * @param {Record<string, number[]>} terms
   */
  show(tau, terms) {
    this.joints.forEach((joint, j) => {
      const row = this.rows[j];
      const ends = this.terms.reduce(
        (out, term) => out.map((x, k) => (terms[term][j] > 0 === !k ? x + Math.abs(terms[term][j]) : x)),
        [0, 0],
      );
      this.largest[j] = Math.max(this.largest[j], ends[0], ends[1], Math.abs(tau[j]));
      const scale = 50 / this.largest[j];
      let [right, left] = [0, 0];
      for (const term of this.terms) {
        const x = terms[term][j];
        const size = Math.abs(x) * scale;
        const { style, dataset } = row.parts[term];
        style.width = `${size}%`;
        style.left = `${x > 0 ? 50 + right : 50 - left - size}%`;
        dataset.value = String(x);
        if (x > 0) right += size;
        else left += size;
      }
      row.sum.style.left = `${50 + tau[j] * scale}%`;
      if (joint.effort) {
        const inside = Math.max(0, 50 - joint.effort * scale);
        for (const band of row.bands) band.style.width = `${inside}%`;
        row.root.classList.toggle("over", Math.abs(tau[j]) > joint.effort);
      }
      tell(row.value, tau[j], ` ${effortUnit(joint)}`, 2, false);
    });
  }
}

/** The mass matrix as a heat map. */
export class MassMap {
  /** @param {Joint[]} joints */
  constructor(joints) {
    this.cells = joints.map((_, i) => joints.map((__, j) => element("td", { id: `M-${i}-${j}` })));
    const head = element(
      "tr",
      {},
      element("th", {}),
      ...joints.map((_, j) => element("th", { scope: "col" }, String(j + 1))),
    );
    const rows = this.cells.map((line, i) =>
      element("tr", {}, element("th", { scope: "row" }, String(i + 1)), ...line),
    );
    const caption = element(
      "caption",
      {},
      "M(q): what a joint's acceleration (column) asks of each joint (row) [kg m², kg m, kg]",
    );
    this.root = element("table", { class: "mass" }, caption, element("thead", {}, head), element("tbody", {}, ...rows));
  }

  /** @param {number[][]} M */
  show(M) {
    const largest = Math.max(...M.flat().map(Math.abs), 1e-12);
    M.forEach((line, j) =>
      line.forEach((x, i) => {
        const cell = this.cells[i][j]; // column j is the answer to an acceleration of joint j
        const share = Math.round(100 * Math.sqrt(Math.abs(x) / largest));
        const color = x >= 0 ? "var(--warm)" : "var(--cool)";
        cell.style.background = `color-mix(in srgb, ${color} ${share}%, transparent)`;
        tell(cell, x, "", largest < 10 ? 3 : 1, false);
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
    this.link.append(...joints.map((joint, k) => element("option", { value: k + 1 }, `i = ${k + 1}, ${joint.name}`)));
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
      const value = element("output");
      const root = element("div", { class: "equation" }, element("span", { class: "tag" }, `(${tag})`));
      root.append(element("code", {}, line), value);
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
      const numbers = Array.from(values.subarray(first, first + size));
      const width = shape.length === 2 ? shape[1] : size;
      const rows = Array.from({ length: size / width }, (_, k) => numbers.slice(k * width, (k + 1) * width));
      const text = rows.map((row) => row.map((x) => shown(x, 3)).join("  ")).join("\n");
      line.root.hidden = false;
      line.value.textContent = `${name} = ${rows.length > 1 ? "\n" : ""}${text}`;
      line.value.dataset.value = JSON.stringify(numbers);
    }
  }
}
