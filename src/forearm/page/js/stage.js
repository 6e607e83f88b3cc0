/** The 3D view: canvas, camera, floor, numbers at the frames, and which layers are drawn. */
import { byId, element } from "./elements.js";
import { project } from "./linear.js";
import { Camera, Renderer } from "./renderer.js";
import { buildScene, floorLines } from "./scene.js";

/** @typedef {import("./model.js").Places} Places */

/** Shows the arm in space. */
export class Stage {
  layers = { bodies: false, frames: true, path: true, ease: false };
  nights = matchMedia("(prefers-color-scheme: dark)");
  /** @type {Renderer | null} made for the first picture */
  renderer = null;

  /** @param {import("./model.js").Data} data */
  constructor(data) {
    const { seen, middle, axes, joints } = data;
    this.data = data;
    this.camera = new Camera(seen, middle, axes);
    this.floors = [true, false].map((dark) => new Float32Array(floorLines(data, dark)));
    this.labels = [...joints.keys(), joints.length, "tool"].map((name) => element("span", {}, String(name)));
    byId("labels").replaceChildren(...this.labels);
    byId("scene").addEventListener("webglcontextlost", (/** @type {Event} */ event) => event.preventDefault());
    byId("scene").addEventListener("webglcontextrestored", () => (this.renderer = null));
  }

  /**
   * @param {Places} places
   * @param {{held: boolean, load: import("./model.js").Load, gravity: number[], path: number[][], ghost: Places | null,
   *          ease: number[][] | null}} look
   * @param {number} fineness pixels drawn for each of the page's
   */
  show(places, look, fineness) {
    const { data, layers, camera } = this;
    const renderer = (this.renderer ??= new Renderer(byId("scene")));
    const dark = this.nights.matches;
    const matrix = camera.matrix(renderer.fit(fineness));
    const scene = buildScene(places, { ...look, data, layers, dark });
    const shadow = dark ? [0, 0, 0, 0.4] : [0.008, 0.016, 0.022, 0.16];
    const lines = this.floors[dark ? 0 : 1];
    const floor = data.foot[2] + 0.001 * data.size; // a hair above it
    renderer.draw({ ...scene, matrix, eye: camera.eye, axes: data.axes, lines, floor, shadow });
    this.placeLabels(matrix, places.points);
  }

  /**
   * Numbers beside their frames, those nearer the tool first; none over another.
   * @param {number[]} matrix
   * @param {number[][]} points
   */
  placeLabels(matrix, points) {
    const { clientWidth: width, clientHeight: height } = byId("view");
    const taken = /** @type {number[][]} */ ([]);
    [...this.labels.keys()].reverse().forEach((k) => {
      const [x, y, depth] = project(matrix, points[k]);
      const at = [((x + 1) / 2) * width + 9, ((1 - y) / 2) * height + 7];
      const crowded = taken.some((other) => Math.abs(other[0] - at[0]) < 15 && Math.abs(other[1] - at[1]) < 13);
      const outside = depth <= 0 || at[0] < 0 || at[1] < 0 || at[0] > width - 8 || at[1] > height - 8;
      this.labels[k].hidden = !this.layers.frames || crowded || outside;
      if (!crowded && !outside) taken.push(at);
      this.labels[k].style.transform = `translate(${at[0].toFixed(1)}px, ${at[1].toFixed(1)}px)`;
    });
  }
}
