/** Pointers and keys on the 3D view: take the hand, turn, shift and zoom the view. */
import { add, project, scale } from "./linear.js";

/** @typedef {{camera: import("./renderer.js").Camera, canvas: HTMLCanvasElement, tool: () => number[],
 *             moveTo: (p: number[]) => void, grab: (held: boolean) => void, changed: () => void,
 *             key: (key: string) => boolean}} Host */

const NEAR = 30;

/** Turns events into calls of its host. */
export class Hand {
  /** @param {Host} host */
  constructor(host) {
    this.host = host;
    /** @type {Map<number, [number, number]>} */
    this.pointers = new Map();
    this.holding = false;
    this.offset = [0, 0];
    const { canvas } = host;
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const name of /** @type {const} */ (["pointerup", "pointercancel"]))
      canvas.addEventListener(name, (event) => this.up(event));
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("keydown", (event) => this.press(event));
  }

  get box() {
    return this.host.canvas.getBoundingClientRect();
  }

  /** Where the hand is on the screen, in pixels of the page. */
  onScreen() {
    const { box } = this;
    const [x, y] = project(this.host.camera.matrix(box.width / box.height), this.host.tool());
    return [box.left + ((x + 1) / 2) * box.width, box.top + ((1 - y) / 2) * box.height];
  }

  /** @param {PointerEvent} event */
  isOnHand(event) {
    const [x, y] = this.onScreen();
    return Math.hypot(event.clientX - x, event.clientY - y) < NEAR;
  }

  /** @param {PointerEvent} event */
  down(event) {
    this.host.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
    if (this.pointers.size === 1 && event.button === 0 && this.isOnHand(event)) {
      const [x, y] = this.onScreen();
      this.offset = [x - event.clientX, y - event.clientY];
      this.holding = true;
      this.host.grab(true);
    }
  }

  /** @param {PointerEvent} event */
  move(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) {
      this.host.canvas.classList.toggle("on-hand", this.isOnHand(event));
      return;
    }
    const { box } = this;
    const [dx, dy] = [(event.clientX - before[0]) / box.height, (event.clientY - before[1]) / box.height];
    const others = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
    this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
    if (others.length) this.pinch(before, [event.clientX, event.clientY], others[0], dx, dy);
    else if (this.holding) this.lead(event.clientX + this.offset[0], event.clientY + this.offset[1]);
    else if (event.buttons & 2 || event.shiftKey) this.host.camera.pan(dx, dy);
    else this.host.camera.orbit(dx, dy);
    this.host.changed();
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
    this.host.camera.zoom(apart(before) / apart(now));
    this.host.camera.pan(dx / 2, dy / 2);
  }

  /**
   * Lead the hand to a place of the screen, in the plane through it that faces the eye.
   * @param {number} clientX
   * @param {number} clientY
   */
  lead(clientX, clientY) {
    const { camera } = this.host;
    const { box } = this;
    const matrix = camera.matrix(box.width / box.height);
    const tool = this.host.tool();
    const [x, y, depth] = project(matrix, tool);
    const across = depth / Math.hypot(matrix[0], matrix[4], matrix[8]);
    const high = depth / Math.hypot(matrix[1], matrix[5], matrix[9]);
    const wanted = [((clientX - box.left) / box.width) * 2 - 1, 1 - ((clientY - box.top) / box.height) * 2];
    const shift = add(scale(camera.right, (wanted[0] - x) * across), scale(camera.up, (wanted[1] - y) * high));
    this.host.moveTo(add(tool, shift));
  }

  /** @param {PointerEvent} event */
  up(event) {
    this.pointers.delete(event.pointerId);
    if (this.holding) this.host.grab(false);
    this.holding = false;
  }

  /** @param {WheelEvent} event */
  wheel(event) {
    event.preventDefault();
    this.host.camera.zoom(Math.exp(0.0012 * event.deltaY));
    this.host.changed();
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const { camera } = this.host;
    const steps = /** @type {Record<string, number[]>} */ ({
      ArrowLeft: [-1, 0],
      ArrowRight: [1, 0],
      ArrowUp: [0, 1],
      ArrowDown: [0, -1],
    });
    const step = steps[event.key];
    if (step && event.shiftKey) camera.orbit(0.06 * step[0], -0.06 * step[1]);
    else if (step) {
      const k = 0.02 * camera.size;
      this.host.moveTo(add(this.host.tool(), add(scale(camera.right, k * step[0]), scale(camera.up, k * step[1]))));
    } else if (event.key === "+" || event.key === "=") camera.zoom(0.9);
    else if (event.key === "-") camera.zoom(1.1);
    else if (!this.host.key(event.key)) return;
    event.preventDefault();
    this.host.changed();
  }
}
