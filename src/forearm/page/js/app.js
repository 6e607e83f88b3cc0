/** The page: its state, what happens in a frame, and how panels, pointers and kernels come together. */
import { fromBase64, instantiate } from "../../compiler/wasm/loader.js";
import { legend, Plot } from "./charts.js";
import { buildControls } from "./controls.js";
import { byId, element, shown, tell } from "./elements.js";
import { Hand } from "./hand.js";
import { dampedStep, norm, project, scale, subtract } from "./linear.js";
import { Model, Motion, tenNumbers } from "./model.js";
import { Equations, MassMap, TorqueBars } from "./panels.js";
import { Camera, Renderer } from "./renderer.js";
import { buildScene, easeAxes, floorLines, Places, reachOf } from "./scene.js";

const STEP = 1 / 8000; // of a simulation [s]
const HOLD = 4; // steps between two samples of a controller
const QUICK = 22; // how fast the arm comes after the hand [rad/s]
const SLOWLY = 80; // milliseconds between two updates of the heavier panels
const KEPT = 10; // seconds of history
const FINE = 2; // pixels drawn for each of the page's, where there is time

/** The arm in the page. */
export class App {
  // times [s, and ms for those of frames], how fast the page shows, and what it owes the screen
  time = 0;
  last = 0;
  slow = 0;
  moved = 0;
  drawn = 0;
  speed = 1;
  fineness = 1;
  pace = 25;
  total = 0;
  stale = true;
  owed = true;
  rough = false;
  held = false;
  showsHistory = false;

  /**
   * @param {import("./model.js").Data} data
   * @param {Record<string, any>} kernels
   */
  constructor(data, kernels) {
    this.data = data;
    this.model = new Model(data, kernels);
    this.kernels = kernels;
    this.n = data.joints.length;
    this.q = [...data.q];
    this.qd = this.zeros();
    this.qdd = this.zeros();
    this.goal = [...data.q];
    this.wanted = [...data.q];
    this.mode = "still";
    this.turn = { tilt: 0, heading: 0 };
    this.believed = { mass: 0, x: 0, y: 0, z: 0 };
    this.ends = { A: [...data.q], B: this.other() };
    this.motion = data.motion
      ? Motion.fromRows(new Float64Array(fromBase64(data.motion).buffer), this.n)
      : Motion.between(this.ends.A, this.ends.B, 2);
    this.places = this.look(this.q);
    this.size = reachOf(this.places);
    this.camera = new Camera(0.75 * this.size, this.middle());
    this.layers = { bodies: false, frames: true, path: true, ease: false };
    this.floor = Math.min(0, ...this.places.points.map((p) => p[2]));
    this.lines = new Map([true, false].map((dark) => [dark, floorLines(this.size, this.floor, dark)]));
    this.labels = this.places.points.map((_, k) => element("span", {}, k > this.n ? "tool" : String(k)));
    this.bars = new TorqueBars(data.joints, this.present);
    this.map = new MassMap(data.joints);
    this.plots = this.makePlots();
    /** @type {number[][]} */
    this.motionPath = [];
    this.now = data.dynamics ? this.model.dynamics(this.q, this.qd, this.qdd) : null;
    this.ledger = { work: 0, lost: 0, time: 0, largest: 0, drift: 0, start: 0 };
    this.history = this.noHistory();
    this.path = this.motionPath;
    this.renderer = new Renderer(byId("scene"));
    this.controls = buildControls(this);
    this.equations = data.papers.length ? new Equations(data.papers, data.joints, () => this.showSlowly()) : null;
    this.build();
    this.restart();
    this.showMotion();
    new ResizeObserver(() => this.resized()).observe(byId("view"));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.resized());
    window.addEventListener("beforeprint", () => this.render());
    requestAnimationFrame((now) => this.frame(now));
  }

  noHistory() {
    return { t: /** @type {number[]} */ ([]), rows: /** @type {number[][][]} */ ([[], [], []]) };
  }

  zeros() {
    return new Array(this.n).fill(0);
  }

  /** The middle of what there is to see. */
  middle() {
    const corners = this.places.points;
    return [0, 1, 2].map((k) => {
      const along = corners.map((p) => p[k]);
      return (Math.min(...along) + Math.max(...along)) / 2;
    });
  }

  /** A second position, some way off. */
  other() {
    return this.data.q.map((x, j) =>
      this.model.within(j, x + (this.data.joints[j].kind === "R" ? 0.8 * (j % 2 ? -1 : 1) : 0.1)),
    );
  }

  /** @param {number[]} q */
  look(q) {
    return new Places(this.model.look(q), this.n);
  }

  build() {
    const { data } = this;
    const mass = data.dynamics ? `, ${shown(data.mass, 1)} kg` : ", kinematics only: its source gives no masses";
    const title = data.title ? `${data.title}. ` : "";
    byId("title").textContent = data.name;
    byId("credit").textContent = data.credit;
    byId("subtitle").textContent = `${title}${this.n} joint${this.n > 1 ? "s" : ""}${mass}`;
    byId("scene").setAttribute("aria-label", `${data.name} in three dimensions`);
    byId("labels").replaceChildren(...this.labels);
    if (data.dynamics) {
      byId("torques").append(this.bars.root);
      byId("mass").append(this.map.root);
    }
    byId("papers").hidden = !data.papers.length;
    const names = data.joints.map((joint) => joint.name);
    byId("plots").replaceChildren(legend(names), ...this.plots.map((one) => one.root));
    new Hand({
      camera: this.camera,
      canvas: byId("scene"),
      tool: () => this.places.tool,
      moveTo: (p) => this.reach(p),
      grab: (held) => this.grab(held),
      changed: () => (this.stale = true),
      key: (key) => this.key(key),
    });
  }

  makePlots() {
    const { joints, dynamics } = this.data;
    const mixed = joints.some((joint) => joint.kind === "P");
    const names = joints.map((joint) => joint.name);
    const seek = (/** @type {number} */ time) => this.seek(time);
    const kinds = [
      ["position", mixed ? "rad, m" : "rad"],
      ["speed", mixed ? "rad/s, m/s" : "rad/s"],
      ["torque", mixed ? "N m, N" : "N m"],
    ];
    return kinds.slice(0, dynamics ? 3 : 2).map(([label, unit]) => new Plot({ label, unit, names, seek }));
  }

  /** Terms that the torques of this arm have. */
  get present() {
    const rotors = this.data.joints.some((joint) => joint.rotor);
    const drives = [...(rotors ? ["rotor"] : []), ...(this.data.frictional ? ["friction"] : [])];
    return ["gravity", "inertial", "centrifugal", "coriolis", ...drives];
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
    if (held && this.mode !== "hand") {
      this.goal = [...this.q];
      this.setMode("hand");
    }
    this.stale = true;
  }

  /**
   * Move the goal so that the tool comes to a place: damped least squares, joints at their limits left out.
   * @param {number[]} place
   */
  reach(place) {
    let q = this.mode === "hand" ? this.goal : [...this.q];
    const locked = new Set();
    for (let k = 0; k < 40; k++) {
      const now = this.look(q);
      const error = subtract(place, now.tool);
      const far = norm(error);
      if (far < 1e-7 * this.size) break;
      const J = now.J.slice(0, 3).map((row) => row.map((x, j) => (locked.has(j) ? 0 : x)));
      const step = dampedStep(J, scale(error, Math.min(1, (0.15 * this.size) / far)), 0.012 * this.size);
      const next = q.map((x, j) => this.model.within(j, x + Math.max(-0.4, Math.min(0.4, step[j]))));
      next.forEach((x, j) => Math.abs(x - q[j] - step[j]) > 1e-12 && Math.abs(step[j]) < 0.4 && locked.add(j));
      q = next;
    }
    this.aim(q);
  }

  typedState() {
    const read = (/** @type {number} */ k) => this.controls.typed.map((row) => row[k].valueAsNumber || 0);
    [this.q, this.qd, this.qdd] = [read(0), read(1), read(2)];
    this.goal = [...this.q];
    this.setMode("still");
    this.changedState();
    this.showSlowly();
  }

  /** @param {string} key */
  key(key) {
    if (key === " ") this.toggle("motion");
    else if ((key === "l" || key === "L") && this.data.dynamics) this.toggle("fall");
    else return false;
    return true;
  }

  /** @param {string} mode */
  toggle(mode) {
    if (this.mode === mode) {
      this.setMode("still");
      return;
    }
    if (mode === "motion" && this.time >= this.duration - 1e-9) this.time = 0;
    if (mode === "follow") {
      this.q = this.motion.at(0).q;
      this.qd = this.zeros();
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
    this.time = Math.max(0, Math.min(time, this.duration));
    this.setMode("still");
    if (this.showsHistory) this.showMotion();
    this.take(this.motion.at(this.time));
  }

  get duration() {
    return this.motion.duration;
  }

  /** @param {string} mode */
  setMode(mode) {
    this.mode = mode;
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
    this.history = this.noHistory();
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
    this.places = this.look(this.q);
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
    const moves = /** @type {Record<string, (dt: number) => void>} */ ({
      hand: (dt) => this.come(dt),
      motion: (dt) => this.along(dt),
      fall: (dt) => this.simulate(dt),
      follow: (dt) => this.simulate(dt),
    });
    if (elapsed > 0 && moves[this.mode]) moves[this.mode](elapsed);
    if (this.stale) {
      this.stale = false;
      this.adapt(now);
      this.render(this.fineness);
      this.showNumbers();
      if (now - this.slow > SLOWLY) this.showSlowly(now);
      else this.owed = true;
    } else if (this.owed) this.showSlowly(now);
    else if (this.fineness < FINE && this.rough && now - this.moved > 300) {
      this.rough = false; // at rest there is time for a fine picture
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
    if (this.pace > 30) this.fineness = 1;
    else if (this.pace < 19 && this.fineness < FINE) this.fineness = FINE;
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
    this.take(rest ? { q: [...this.goal], qd: this.zeros(), qdd: this.zeros() } : { q, qd, qdd });
    if (rest && !this.held) this.setMode("still");
    this.remember(dt);
  }

  /** @param {number} dt */
  along(dt) {
    this.time = Math.min(this.time + dt, this.duration);
    this.take(this.motion.at(this.time));
    if (this.time >= this.duration) this.setMode("still");
  }

  /** @param {number} dt */
  simulate(dt) {
    let rest = Math.max(1, Math.round(dt / STEP));
    const span = rest * STEP;
    const given = {
      work: [this.ledger.work],
      lost: [this.ledger.lost],
      share: [this.model.share],
      payload: this.model.payload,
      gravity: this.model.gravity,
    };
    while (rest > 0) {
      const steps = this.mode === "follow" ? Math.min(HOLD, rest) : rest;
      const state = {
        ...given,
        q: this.q,
        qd: this.qd,
        work: [this.ledger.work],
        lost: [this.ledger.lost],
        ...(this.mode === "follow" ? this.targets() : {}),
      };
      const end = this.kernels[this.mode](state, { dt: STEP, steps });
      [this.q, this.qd] = [Array.from(end.q), Array.from(end.qd)];
      [this.ledger.work, this.ledger.lost] = [end.work[0], end.lost[0]];
      rest -= steps;
      this.ledger.time += steps * STEP;
      this.time = this.mode === "follow" ? Math.min(this.ledger.time, this.duration) : this.time;
    }
    if (!this.q.every(Number.isFinite) || this.qd.some((x) => Math.abs(x) > 1e4)) {
      this.take({ q: [...this.data.q], qd: this.zeros(), qdd: this.zeros() });
      this.setMode("still");
      byId("readout").textContent = "The simulation ran away: speeds grew beyond what its step resolves.";
      return;
    }
    this.qdd = this.model.accelerations(this.q, this.qd, this.mode === "follow" ? this.targets() : null);
    this.changedState();
    this.ledger.largest = Math.max(this.ledger.largest, this.now?.kinetic ?? 0);
    this.ledger.drift = this.total - this.ledger.start - this.ledger.work + this.ledger.lost;
    this.remember(span);
  }

  /** What the controller is to reach now. */
  targets() {
    const wanted = this.motion.at(this.ledger.time);
    this.wanted = wanted.q;
    return {
      goal: wanted.q,
      rate: wanted.qd,
      push: wanted.qdd,
      kp: [225],
      kd: [30],
      believed: tenNumbers(this.believed),
    };
  }

  /** @param {number} dt */
  remember(dt) {
    const { history } = this;
    history.t.push((history.t[history.t.length - 1] ?? 0) + dt);
    [this.q, this.qd, this.now ? this.now.tau : this.qd].forEach((row, k) => history.rows[k].push([...row]));
    while (history.t[history.t.length - 1] - history.t[0] > KEPT) {
      history.t.shift();
      history.rows.forEach((rows) => rows.shift());
    }
    this.path.push(this.places.tool);
    if (this.path.length > 240) this.path.shift();
  }

  // -- showing ---------------------------------------------------------------------------------------------

  /** @param {number} [fineness] pixels drawn for each of the page's */
  render(fineness = FINE) {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const matrix = this.camera.matrix(this.renderer.fit(fineness));
    const { data, size, layers, held, floor } = this;
    const { load, gravity } = this.model;
    const ease = layers.ease && this.now ? easeAxes(this.places.J, this.now.M) : null;
    const path = this.mode === "fall" || this.mode === "hand" ? this.path : this.motionPath;
    const ghost = this.mode === "follow" ? this.look(this.wanted) : null;
    const scene = buildScene(this.places, { data, size, layers, dark, held, load, gravity, path, ghost, ease });
    const shadow = dark ? [0, 0, 0, 0.4] : [0.008, 0.016, 0.022, 0.16];
    const lines = this.lines.get(dark) ?? [];
    this.renderer.draw({ ...scene, matrix, eye: this.camera.eye, lines, floor, shadow });
    this.placeLabels(matrix);
  }

  /** @param {number[]} matrix */
  placeLabels(matrix) {
    const { clientWidth: width, clientHeight: height } = byId("view");
    const taken = /** @type {number[][]} */ ([]);
    [...this.labels.keys()].reverse().forEach((k) => {
      const [x, y, depth] = project(matrix, this.places.points[k]);
      const at = [((x + 1) / 2) * width + 9, ((1 - y) / 2) * height + 7];
      const crowded = taken.some((other) => Math.abs(other[0] - at[0]) < 15 && Math.abs(other[1] - at[1]) < 13);
      const outside = depth <= 0 || at[0] < 0 || at[1] < 0 || at[0] > width - 8 || at[1] > height - 8;
      this.labels[k].hidden = !this.layers.frames || crowded || outside;
      if (!crowded && !outside) taken.push(at);
      this.labels[k].style.transform = `translate(${at[0].toFixed(1)}px, ${at[1].toFixed(1)}px)`;
    });
  }

  showNumbers() {
    this.controls.sliders.forEach((one, j) => one.set(this.mode === "hand" ? this.goal[j] : this.q[j]));
    if (this.now) {
      this.bars.show(this.now.tau, this.now.terms);
      tell(byId("kinetic"), this.now.kinetic);
      tell(byId("potential"), this.places.potential);
      tell(byId("total"), this.total);
      tell(byId("drift"), this.ledger.drift, "", 3);
      tell(byId("relative-drift"), this.ledger.largest ? Math.abs(this.ledger.drift) / this.ledger.largest : 0, "", 3);
    }
    if (this.mode === "follow") {
      tell(byId("error"), Math.max(...this.q.map((x, j) => Math.abs(x - this.wanted[j]))), "", 4);
    }
    byId("clock").textContent = `${shown(this.mode === "fall" ? this.ledger.time : this.time)} s`;
    if (this.mode !== "fall") byId("scrub").value = String(this.time / this.duration);
    this.markTime();
  }

  /** @param {number} [now] */
  showSlowly(now = performance.now()) {
    this.slow = now;
    this.owed = false;
    const { tool } = this.places;
    byId("readout").textContent = `tool ${tool.map((x) => shown(x, 3)).join(", ")} m`;
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
    this.showCurves();
  }

  /** Plots: what just happened where the arm is moved by hand or simulated, the motion otherwise. */
  showCurves() {
    const { t, rows } = this.history;
    const live = ["fall", "follow", "hand"].includes(this.mode);
    if (live && t.length > 1) {
      this.plots.forEach((plot, k) => plot.show(t, rows[k], k === 2 ? this.limits : []));
      this.showsHistory = true;
    } else if (!live && this.showsHistory && this.mode === "motion") this.showMotion();
    this.markTime();
  }

  /** The cursor of the plots is the time of the view. */
  markTime() {
    const { t } = this.history;
    const now = this.showsHistory ? t[t.length - 1] : this.time;
    this.plots.forEach((plot) => plot.mark(now));
  }

  get limits() {
    return this.data.joints.map((joint) => joint.effort);
  }

  /** Plots and path of the motion, its torques computed here. */
  showMotion() {
    this.showsHistory = false;
    const { t, q, qd, qdd } = this.motion;
    const rows = [q, qd];
    if (this.data.dynamics) {
      const tau = this.model.torques(t.map((_, k) => [q[k], qd[k], qdd[k], this.model.gravity]));
      rows.push(t.map((_, k) => Array.from(tau.subarray(k * this.n, (k + 1) * this.n))));
    }
    this.plots.forEach((plot, k) => plot.show(t, rows[k], k === 2 ? this.limits : []));
    const every = Math.max(1, Math.floor(t.length / 200));
    const some = q.filter((_, k) => k % every === 0 || k === t.length - 1);
    this.motionPath = some.map((row) => this.look(row).tool);
    this.stale = true;
  }

  resized() {
    this.plots.forEach((plot) => plot.draw());
    this.stale = true;
  }
}

/** Read the page's data, load its kernels, start. */
export async function start() {
  const data = JSON.parse(byId("data").textContent);
  try {
    const kernels = await instantiate(fromBase64(data.module), data.interface);
    /** @type {any} */ (globalThis).forearmView = new App(data, kernels);
  } catch (error) {
    byId("readout").textContent = `This browser cannot show the arm: ${/** @type {Error} */ (error).message}`;
  }
}
