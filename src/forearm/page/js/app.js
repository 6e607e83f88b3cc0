/** The page: its state, what happens in a frame, and how panels, pointers and kernels come together. */
import { fromBase64, instantiate } from "../../compiler/wasm/loader.js";
import { Curves } from "./charts.js";
import { buildControls } from "./controls.js";
import { byId, shown, tell } from "./elements.js";
import { Hand } from "./hand.js";
import { rowsOf } from "./linear.js";
import { Model, Motion, tenNumbers } from "./model.js";
import { Equations, MassMap, TorqueBars } from "./panels.js";
import { easeAxes } from "./scene.js";
import { Stage } from "./stage.js";

const STEP = 1 / 8000; // of a simulation [s]
const HOLD = 4; // steps between two samples of a controller
const QUICK = 22; // how fast the arm comes after the hand [rad/s]
const [BRIEFLY, SLOWLY] = [45, 190]; // milliseconds between two updates of numbers, and of the heavier panels
const FINE = 2; // pixels drawn for each of the page's, where there is time

/** The arm in the page. */
export class App {
  // times [s, and ms for those of frames], how fast the page shows, and what it owes the screen
  time = 0;
  last = 0;
  slow = 0;
  told = 0;
  moved = 0;
  drawn = 0;
  speed = 1;
  fineness = 1;
  finest = FINE;
  pace = 25;
  total = 0;
  notice = "";
  stale = true;
  owed = true;
  rough = false;
  held = false;
  mode = "still";
  turn = { tilt: 0, heading: 0 };
  believed = { mass: 0, x: 0, y: 0, z: 0 };
  ledger = { work: 0, lost: 0, time: 0, largest: 0, drift: 0, start: 0 };
  /** @type {number[][]} where the tool was, and where the motion takes it */
  path = [];
  /** @type {number[][]} */
  motionPath = [];
  /** @type {Record<string, (dt: number) => void>} */
  moves = { hand: this.come, motion: this.along, fall: this.simulate, follow: this.simulate };

  /**
   * @param {import("./model.js").Data} data
   * @param {Record<string, any>} kernels
   */
  constructor(data, kernels) {
    this.data = data;
    this.model = new Model(data, kernels);
    this.kernels = kernels;
    this.n = data.joints.length;
    this.digits = Math.max(3, 2 - Math.floor(Math.log10(data.size)));
    this.q = [...data.q];
    this.qd = this.model.still;
    this.qdd = this.model.still;
    this.goal = [...data.q];
    this.wanted = [...data.q];
    this.motion = Motion.fromRows(new Float64Array(fromBase64(data.motion).buffer), this.n);
    this.ends = { A: this.motion.q[0], B: this.motion.q[this.motion.q.length - 1] };
    this.places = this.model.look(this.q);
    this.now = data.dynamics ? this.model.dynamics(this.q, this.qd, this.qdd) : null;
    this.stage = new Stage(data);
    this.bars = new TorqueBars(data.joints, data.terms);
    this.map = new MassMap(data.joints);
    this.curves = new Curves(data, (time) => this.seek(time));
    this.controls = buildControls(this);
    this.equations = data.papers.length ? new Equations(data.papers, data.joints, () => this.showSlowly()) : null;
    this.build();
    this.restart();
    this.showSlowly();
  }

  /** Draw, from now on: a browser that was just opened may take a second over its first canvas. */
  open() {
    this.showMotion();
    new ResizeObserver(() => this.resized()).observe(byId("view"));
    this.stage.nights.addEventListener("change", () => this.resized());
    window.addEventListener("beforeprint", () => this.render(FINE));
    byId("scene").addEventListener("webglcontextrestored", () => this.resized());
    this.frame(performance.now());
  }

  build() {
    byId("torques").append(this.bars.root);
    byId("mass").append(this.map.root);
    byId("papers").hidden = !this.equations;
    byId("plots").append(...this.curves.roots);
    new Hand(this, byId("scene"));
  }

  // -- what the reader does --------------------------------------------------------------------------------

  /** @param {number[]} q */
  aim(q) {
    this.goal = q.map((x, j) => this.model.within(j, x));
    this.setMode("hand");
  }

  /** @param {boolean} held */
  grab(held) {
    this.held = held;
    if (held && this.mode !== "hand") this.aim(this.q);
    this.stale = true;
  }

  /**
   * Move the goal so that the tool comes to a place.
   * @param {number[]} place
   * @param {number[]} [way]
   */
  reach(place, way) {
    this.aim(this.model.reach(this.mode === "hand" ? this.goal : this.q, place, way));
  }

  typedState() {
    const read = (/** @type {number} */ k) => this.controls.typed.map((row) => row[k].valueAsNumber || 0);
    this.goal = read(0);
    this.setMode("still");
    this.take({ q: read(0), qd: read(1), qdd: read(2) });
    this.showSlowly();
  }

  /** @param {string} mode */
  toggle(mode) {
    if (this.mode === mode) return this.setMode("still");
    if (mode === "motion" && this.time >= this.motion.duration - 1e-9) this.time = 0;
    if (mode === "follow") {
      this.q = this.motion.at(0).q;
      this.qd = this.model.still;
      this.time = 0;
    }
    this.setMode(mode);
    if (mode === "fall" || mode === "follow") this.restart();
  }

  /** @param {Partial<{A: number[], B: number[]}>} ends */
  fromAToB(ends = {}) {
    Object.assign(this.ends, ends);
    this.motion = Motion.between(this.ends.A, this.ends.B, 2);
    this.time = 0;
    this.showMotion();
    this.setMode("motion");
  }

  /** @param {number} time */
  seek(time) {
    this.time = Math.max(0, Math.min(time, this.motion.duration));
    this.setMode("still");
    if (this.curves.live) this.showMotion();
    this.take(this.motion.at(this.time));
  }

  /** @param {string} mode */
  setMode(mode) {
    this.mode = mode;
    this.notice = "";
    byId("play").textContent = mode === "motion" ? "❚❚ pause" : "▶ play";
    for (const button of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-mode]"))) {
      button.setAttribute("aria-pressed", String(button.dataset.mode === mode));
    }
  }

  /** Energies are counted from here on. */
  restart() {
    this.changedState();
    this.ledger = { work: 0, lost: 0, time: 0, largest: 0, drift: 0, start: this.total };
    this.path = [];
    this.curves.forget();
  }

  /** @param {() => void} change of payload, gravity or friction */
  changeArm(change) {
    change();
    this.changedState();
    if (this.mode === "fall" || this.mode === "follow") this.restart();
    this.showMotion();
  }

  /** @param {{q: number[], qd: number[], qdd: number[]}} state */
  take({ q, qd, qdd }) {
    [this.q, this.qd, this.qdd] = [q, qd, qdd];
    this.changedState();
  }

  changedState() {
    this.places = this.model.look(this.q);
    if (this.data.dynamics) {
      this.now = this.model.dynamics(this.q, this.qd, this.qdd);
      this.total = this.now.kinetic + this.places.potential;
    }
    this.stale = true;
  }

  // -- time ------------------------------------------------------------------------------------------------

  /** @param {number} now */
  frame(now) {
    const elapsed = Math.min(0.05, (now - (this.last || now)) / 1000) * this.speed;
    this.last = now;
    if (elapsed > 0) this.moves[this.mode]?.call(this, elapsed);
    if (this.stale) {
      this.stale = false;
      this.adapt(now);
      this.render(this.fineness);
      if (now - this.told > BRIEFLY) this.showNumbers(now);
      if (now - this.slow > SLOWLY) this.showSlowly(now);
      else this.owed = true;
    } else if (this.owed) this.showSlowly(now);
    else if (this.fineness < FINE && this.rough && now - this.moved > 300) {
      [this.rough, this.finest] = [false, FINE]; // at rest there is time for a fine picture
      this.render(FINE);
    }
    this.drawn += 1;
    requestAnimationFrame((next) => this.frame(next));
  }

  /**
   * As fine a picture as keeps up with the screen: fewer pixels where frames are slow, more where they are not.
   * @param {number} now
   */
  adapt(now) {
    const spent = now - this.moved;
    this.moved = now;
    this.rough = true;
    if (spent > 100) return;
    this.pace = 0.9 * this.pace + 0.1 * spent;
    // a finer picture that was tried and is too slow is not tried again before the arm has rested
    if (this.pace > 21 && this.fineness > 1) this.fineness = this.finest = 1;
    else if (this.pace < 19) this.fineness = this.finest;
  }

  /**
   * The arm comes after the hand as a critically damped spring: speeds and accelerations are real ones.
   * @param {number} dt
   */
  come(dt) {
    const decay = Math.exp(-QUICK * dt);
    const [q, qd] = [[...this.q], [...this.qd]];
    for (let j = 0; j < this.n; j++) {
      const x = this.q[j] - this.goal[j];
      const drive = this.qd[j] + QUICK * x;
      q[j] = this.goal[j] + (x + drive * dt) * decay;
      qd[j] = (this.qd[j] - QUICK * drive * dt) * decay;
    }
    const qdd = q.map((x, j) => -2 * QUICK * qd[j] - QUICK * QUICK * (x - this.goal[j]));
    const rest = q.every((x, j) => Math.abs(x - this.goal[j]) < 1e-7 && Math.abs(qd[j]) < 1e-6);
    this.take(rest ? { q: [...this.goal], qd: this.model.still, qdd: this.model.still } : { q, qd, qdd });
    if (rest && !this.held) this.setMode("still");
    this.remember(dt);
  }

  /** @param {number} dt */
  along(dt) {
    this.time = Math.min(this.time + dt, this.motion.duration);
    this.take(this.motion.at(this.time));
    if (this.time >= this.motion.duration) this.setMode("still");
  }

  /** @param {number} dt */
  simulate(dt) {
    const { ledger } = this;
    const { share, payload, gravity } = this.model;
    const follows = this.mode === "follow";
    let rest = Math.max(1, Math.round(dt / STEP));
    const span = rest * STEP;
    while (rest > 0) {
      const steps = follows ? Math.min(HOLD, rest) : rest;
      const state = { q: this.q, qd: this.qd, work: [ledger.work], lost: [ledger.lost], ...this.targets() };
      const end = this.kernels[this.mode]({ ...state, share: [share], payload, gravity }, { dt: STEP, steps });
      [this.q, this.qd] = [[...end.q], [...end.qd]];
      [ledger.work, ledger.lost] = [end.work[0], end.lost[0]];
      rest -= steps;
      ledger.time += steps * STEP;
    }
    if (follows) this.time = Math.min(ledger.time, this.motion.duration);
    if (!this.q.every(Number.isFinite) || this.qd.some((x) => Math.abs(x) > 1e4)) {
      this.take({ q: [...this.data.q], qd: this.model.still, qdd: this.model.still });
      this.setMode("still");
      this.notice = "The simulation ran away: speeds grew beyond what its step resolves.";
      return;
    }
    this.qdd = this.model.accelerations(this.q, this.qd, this.targets());
    this.changedState();
    ledger.largest = Math.max(ledger.largest, this.now?.kinetic ?? 0);
    ledger.drift = this.total - ledger.start - ledger.work + ledger.lost;
    this.remember(span);
  }

  /** What the controller is to reach now, where there is one. */
  targets() {
    if (this.mode !== "follow") return null;
    const { q: goal, qd: rate, qdd: push } = this.motion.at(this.ledger.time);
    this.wanted = goal;
    return { goal, rate, push, kp: [225], kd: [30], believed: tenNumbers(this.believed) };
  }

  /** @param {number} dt */
  remember(dt) {
    this.curves.remember(dt, [this.q, this.qd, this.now?.tau ?? this.qd]);
    this.path.push(this.places.tool);
    if (this.path.length > 120) this.path.shift();
  }

  // -- showing ---------------------------------------------------------------------------------------------

  /** @param {number} fineness pixels drawn for each of the page's */
  render(fineness) {
    const { held, stage, now } = this;
    const { load, gravity } = this.model;
    const ease = stage.layers.ease && now ? easeAxes(this.places.J, now.M) : null;
    const path = this.mode === "fall" || this.mode === "hand" ? this.path : this.motionPath;
    const ghost = this.mode === "follow" ? this.model.look(this.wanted) : null;
    stage.show(this.places, { held, load, gravity, path, ghost, ease }, fineness);
  }

  /** @param {number} [now] */
  showNumbers(now = performance.now()) {
    this.told = now;
    this.controls.sliders.forEach((one, j) => one.set(this.mode === "hand" ? this.goal[j] : this.q[j]));
    if (this.now) {
      this.bars.show(this.now.tau, this.now.terms);
      tell(byId("kinetic"), this.now.kinetic);
      tell(byId("potential"), this.places.potential);
      tell(byId("total"), this.total);
      const { drift, largest } = this.ledger;
      const share = largest ? Math.abs(drift) / largest : 0;
      tell(byId("drift"), drift, shown(drift, 3));
      tell(byId("relative-drift"), share, shown(share, 3));
    }
    if (this.mode === "follow") {
      const error = Math.max(...this.q.map((x, j) => Math.abs(x - this.wanted[j])));
      tell(byId("error"), error, `${shown(error, 4)} ${this.curves.unit}`);
    }
    byId("clock").textContent = `${shown(this.mode === "fall" ? this.ledger.time : this.time)} s`;
    if (this.mode !== "fall") byId("scrub").value = String(this.time / this.motion.duration);
    this.curves.mark(this.time);
  }

  /** @param {number} [now] */
  showSlowly(now = performance.now()) {
    this.slow = now;
    this.owed = false;
    const { tool } = this.places;
    byId("readout").textContent = this.notice || `tool ${tool.map((x) => shown(x, this.digits)).join(", ")} m`;
    if (this.mode === "still") byId("said").textContent = byId("readout").textContent; // a reader's voice waits for rest
    byId("readout").dataset.value = JSON.stringify(tool);
    if (!document.activeElement?.closest("#exact")) {
      const state = [this.q, this.qd, this.qdd];
      this.controls.typed.forEach((row, j) => row.forEach((input, k) => (input.value = String(state[k][j]))));
    }
    if (this.now) this.map.show(this.now.M);
    if (this.equations) {
      const { payload, gravity } = this.model;
      const { kernel } = this.equations.paper;
      this.equations.show(this.kernels[kernel](this.q, this.qd, this.qdd, payload, gravity));
    }
    if (["fall", "follow", "hand"].includes(this.mode)) this.curves.showHistory();
    else if (this.mode === "motion" && this.curves.live) this.showMotion();
    this.showNumbers(now);
  }

  /** Curves and path of the motion, its torques computed here. */
  showMotion() {
    const { times, states } = this.motion.sample();
    const rows = [states.map(({ q }) => q), states.map(({ qd }) => qd)];
    if (this.data.dynamics) {
      const tau = this.model.torques(states.map(({ q, qd, qdd }) => [q, qd, qdd, this.model.gravity]));
      rows.push(rowsOf(tau, this.n));
    }
    this.curves.show(times, rows);
    this.motionPath = rows[0].map((q) => this.model.look(q).tool);
    this.stale = true;
  }

  resized() {
    this.curves.draw();
    this.stale = true;
  }
}

/** Read the page's data, load its kernels, start. */
export async function start() {
  const data = JSON.parse(byId("data").textContent);
  try {
    const app = new App(data, await instantiate(fromBase64(data.module), data.interface));
    Object.assign(globalThis, { forearmView: app });
    // numbers are there at once; the first picture comes after them
    await new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted)));
    app.open();
  } catch (error) {
    byId("readout").textContent = `This browser cannot show the arm: ${/** @type {Error} */ (error).message}`;
  }
}
