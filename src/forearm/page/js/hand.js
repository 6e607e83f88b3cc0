/** Pointers and keys on the 3D view: take the hand, turn, shift and zoom the view. */
import { add, project, scale, subtract, unit } from "./linear.js";

const NEAR = 30;
/** @type {Record<string, number[]>} */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/** Turns events into what the app does. */
export class Hand {
  /**
   * @param {import("./app.js").App} app
   * @param {HTMLCanvasElement} canvas
   */
  constructor(app, canvas) {
    this.app = app;
    this.canvas = canvas;
    /** @type {Map<number, [number, number]>} */
    this.pointers = new Map();
    /** @type {number[] | null} from the pointer to the hand that it holds */
    this.offset = null;
    const { down, move, up } = this;
    const pointed = /** @type {const} */ ({ pointerdown: down, pointermove: move, pointerup: up, pointercancel: up });
    for (const [name, act] of Object.entries(pointed))
      canvas.addEventListener(name, (/** @type {any} */ e) => act.call(this, e));
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("keydown", (event) => this.press(event));
  }

  get box() {
    return this.canvas.getBoundingClientRect();
  }

  /** Where the hand is on the screen, in pixels of the page. */
  onScreen() {
    const { box } = this;
    const [x, y] = project(this.app.stage.camera.matrix(box.width / box.height), this.app.places.tool);
    return [box.left + ((x + 1) / 2) * box.width, box.top + ((1 - y) / 2) * box.height];
  }

  /**
   * From a pointer to the hand, if it is on it.
   * @param {PointerEvent} event
   */
  grip(event) {
    const [x, y] = this.onScreen();
    const offset = [x - event.clientX, y - event.clientY];
    return Math.hypot(...offset) < NEAR ? offset : null;
  }

  /** @param {PointerEvent} event */
  down(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
    if (this.pointers.size > 1 || event.button !== 0) return;
    this.offset = this.grip(event);
    if (this.offset) this.app.grab(true);
  }

  /** @param {PointerEvent} event */
  move(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return void this.canvas.classList.toggle("on-hand", this.grip(event) !== null);
    const { box } = this;
    const [dx, dy] = [(event.clientX - before[0]) / box.height, (event.clientY - before[1]) / box.height];
    const now = /** @type {[number, number]} */ ([event.clientX, event.clientY]);
    const other = [...this.pointers].find(([id]) => id !== event.pointerId)?.[1];
    this.pointers.set(event.pointerId, now);
    if (other) this.pinch(before, now, other, dx, dy);
    else if (this.offset) this.lead(event.clientX + this.offset[0], event.clientY + this.offset[1]);
    else if (event.buttons & 2 || event.shiftKey) this.app.stage.camera.pan(dx, dy);
    else this.app.stage.camera.orbit(dx, dy);
    this.app.stale = true;
  }

  /**
   * @param {number[]} before
   * @param {number[]} now
   * @param {number[]} other
   * @param {number} dx
   * @param {number} dy
   */
  pinch(before, now, other, dx, dy) {
    const apart = (/** @type {number[]} */ p) => Math.hypot(p[0] - other[0], p[1] - other[1]) || 1;
    this.app.stage.camera.zoom(apart(before) / apart(now));
    this.app.stage.camera.pan(dx / 2, dy / 2);
  }

  /**
   * Lead the hand to a place of the screen, in the plane through it that faces the eye.
   * @param {number} clientX
   * @param {number} clientY
   */
  lead(clientX, clientY) {
    const { camera } = this.app.stage;
    const { box } = this;
    const matrix = camera.matrix(box.width / box.height);
    const tool = this.app.places.tool;
    const [x, y, depth] = project(matrix, tool);
    const across = depth / Math.hypot(matrix[0], matrix[4], matrix[8]);
    const high = depth / Math.hypot(matrix[1], matrix[5], matrix[9]);
    const wanted = [((clientX - box.left) / box.width) * 2 - 1, 1 - ((clientY - box.top) / box.height) * 2];
    const shift = add(scale(camera.right, (wanted[0] - x) * across), scale(camera.up, (wanted[1] - y) * high));
    const place = add(tool, shift);
    this.app.reach(place, unit(subtract(place, camera.eye)));
  }

  /** @param {PointerEvent} event */
  up(event) {
    this.pointers.delete(event.pointerId);
    if (this.offset) this.app.grab(false);
    this.offset = null;
  }

  /** @param {WheelEvent} event */
  wheel(event) {
    event.preventDefault();
    this.app.stage.camera.zoom(Math.exp(0.0012 * event.deltaY));
    this.app.stale = true;
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const { camera } = this.app.stage;
    if (event.ctrlKey || event.metaKey || event.altKey) return; // those keys are the browser's
    const step = ARROWS[event.key];
    if (step && event.shiftKey) camera.orbit(0.06 * step[0], -0.06 * step[1]);
    else if (step) {
      const k = 0.02 * camera.size;
      this.app.reach(add(this.app.places.tool, add(scale(camera.right, k * step[0]), scale(camera.up, k * step[1]))));
    } else if (event.key === "+" || event.key === "=") camera.zoom(0.9);
    else if (event.key === "-") camera.zoom(1.1);
    else if (event.key === " ") this.app.toggle("motion");
    else if (/^l$/i.test(event.key) && this.app.data.dynamics) this.app.toggle("fall");
    else return;
    event.preventDefault();
    this.app.stale = true;
  }
}
