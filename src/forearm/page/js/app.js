/** The page: its state, what happens in a frame, and how panels, pointers and kernels come together. */
import { fromBase64, instantiate } from "../../compiler/wasm/loader.js";
import { legend, Plot } from "./charts.js";
import { byId, element, shown, slider, tell } from "./elements.js";
import { Hand } from "./hand.js";
import { dampedStep, norm, project, scale, subtract } from "./linear.js";
import { Model, Motion, tenNumbers } from "./model.js";
import { Equations, MassMap, TorqueBars } from "./panels.js";
import { Camera, Renderer } from "./renderer.js";
import { buildScene, easeAxes, floorLines, LAYERS, Places, reachOf } from "./scene.js";

const STEP = 1 / 8000; // of a simulation [s]
const HOLD = 4; // steps between two samples of a controller
const QUICK = 22; // how fast the arm comes after the hand [rad/s]
const SLOWLY = 80; // milliseconds between two updates of the heavier panels
const KEPT = 10; // seconds of history

/** The arm in the page. */
class App {
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
    this.mode = "still";
    this.time = 0;
    this.speed = 1;
    this.share = 1;
    this.believed = { mass: 0, x: 0, y: 0, z: 0 };
    this.motion = data.motion ? Motion.fromRows(new Float64Array(fromBase64(data.motion).buffer), this.n) : null;
    this.ends = { A: [...data.q], B: this.other() };
    this.places = this.look(this.q);
    this.size = reachOf(this.places);
    this.camera = new Camera(0.75 * this.size);
    this.layers = { bodies: data.dynamics, frames: true, path: true, ease: false };
    this.floor = Math.min(0, ...this.places.points.map((p) => p[2]));
    this.drawn = 0;
    this.slow = 0;
    this.renderer = new Renderer(byId("scene"));
    this.build();
    this.restart();
    this.showMotion();
    new ResizeObserver(() => this.resized()).observe(byId("view"));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.resized());
    window.addEventListener("beforeprint", () => this.render());
    requestAnimationFrame((now) => this.frame(now));
  }

  zeros() {
    return new Array(this.n).fill(0);
  }

  /** A second position, some way off. */
  other() {
    return this.data.q.map((x, j) => this.model.within(j, x + (this.data.joints[j].kind === "R" ? 0.8 * (j % 2 ? -1 : 1) : 0.1)));
  }

  /** @param {number[]} q */
  look(q) {
    return new Places(this.model.look(q), this.n);
  }

  // -- building --------------------------------------------------------------------------------------------

  build() {
    const { data } = this;
    byId("title").textContent = data.name;
    byId("credit").textContent = data.credit;
    const mass = data.dynamics ? `, ${shown(data.mass, 1)} kg` : ", kinematics only: its source gives no masses";
    byId("subtitle").textContent = `${data.title ? `${data.title}. ` : ""}${this.n} joint${this.n > 1 ? "s" : ""}${mass}`;
    byId("scene").setAttribute("aria-label", `${data.name} in three dimensions`);
    this.labels = this.places.points.map((_, k) => element("span", {}, k > this.n ? "tool" : String(k)));
    byId("labels").replaceChildren(...this.labels);
    for (const [name, label] of Object.entries(LAYERS)) if (data.dynamics || name === "frames" || name === "path") this.chip(name, label);
    const panels = [["Joints", this.jointPanel()]];
    if (data.dynamics) {
      const has = [data.joints.some((joint) => joint.rotor) && "rotor", "friction" in data.interface && data.frictional && "friction"];
      this.bars = new TorqueBars(data.joints, ["gravity", "inertial", "centrifugal", "coriolis", ...has.filter(Boolean)]);
      this.map = new MassMap(data.joints);
      panels.splice(0, 0, ["Torques", this.bars.root]);
      panels.push(["Let go, or follow", this.simulationPanel()], ["Load and gravity", this.loadPanel()], ["Energy", this.energyPanel()]);
      panels.push(["Mass matrix", this.map.root]);
      if (data.papers.length) {
        this.equations = new Equations(data.papers, data.joints, () => this.showSlowly());
        panels.push(["Which equation is this", this.equations.root]);
      }
    }
    byId("panels").replaceChildren(...panels.map(([title, body]) => element("section", { class: "panel" }, element("h2", {}, title), body)));
    this.buildTransport();
    this.hand = new Hand({
      camera: this.camera,
      canvas: byId("scene"),
      tool: () => this.places.tool,
      moveTo: (p) => this.reach(p),
      grab: (held) => this.grab(held),
      changed: () => (this.stale = true),
      key: (key) => this.key(key),
    });
  }

  /**
   * @param {string} name
   * @param {string} label
   */
  chip(name, label) {
    const layers = /** @type {Record<string, boolean>} */ (this.layers);
    const button = element("button", { type: "button", "aria-pressed": String(layers[name]) }, label);
    button.addEventListener("click", () => {
      layers[name] = !layers[name];
      button.setAttribute("aria-pressed", String(layers[name]));
      this.stale = true;
    });
    byId("layers").append(button);
  }

  jointPanel() {
    this.sliders = this.data.joints.map((joint, j) => {
      const wide = joint.kind === "R" ? Math.PI : 1;
      const [min, max] = joint.limits ?? [-wide, wide];
      const change = (/** @type {number} */ x) => this.aim(this.goal.map((y, k) => (k === j ? x : y)));
      return slider({ label: joint.name, min, max, value: this.q[j], unit: joint.kind === "R" ? "rad" : "m", id: `q-${j}`, change });
    });
    const names = Object.keys(this.data.configurations);
    const choose = element("select", { "aria-label": "go to a position" }, element("option", { value: "" }, "go to …"), ...names.map((name) => element("option", { value: name }, name)));
    choose.addEventListener("change", () => choose.value && this.aim([...this.data.configurations[choose.value]]));
    const heads = ["", "q", "q̇", "q̈"].map((name) => element("th", { scope: "col" }, name));
    this.typed = this.data.joints.map((joint, j) => ["q", "qd", "qdd"].map((kind) => element("input", { type: "number", step: "any", id: `${kind}-${j}-exact`, "aria-label": `${kind} of ${joint.name}`, value: "0", onchange: () => this.typedState() })));
    const rows = this.data.joints.map((joint, j) => element("tr", {}, element("th", { scope: "row" }, joint.name), ...this.typed[j].map((input) => element("td", {}, input))));
    const table = element("table", { class: "rates" }, element("tr", {}, ...heads), ...rows);
    const exact = element("details", { id: "exact" }, element("summary", {}, "a state by numbers: positions, speeds, accelerations"), table);
    return element("div", {}, ...this.sliders.map((one) => one.row), names.length ? element("div", { class: "row" }, choose) : "", exact);
  }

  simulationPanel() {
    const button = (/** @type {string} */ label, /** @type {string} */ mode, /** @type {string} */ id) => element("button", { type: "button", id, "aria-pressed": "false", onclick: () => this.toggle(mode) }, label);
    this.buttons = { fall: button("let go", "fall", "let-go"), follow: button("computed torque", "follow", "follow") };
    const friction = element("input", { type: "checkbox", id: "friction", checked: true, onchange: () => (this.share = friction.checked ? 1 : 0) });
    const believed = slider({ label: "believes in", min: 0, max: this.heaviest, value: 0, unit: "kg", id: "believed", change: (x) => (this.believed = { ...this.model.load, mass: Math.max(0, x) }) });
    this.error = element("output", { id: "error" });
    const words = "Let go: nothing drives the arm, Runge-Kutta at 8 kHz in WebAssembly. Computed torque: a controller at 2 kHz holds the pose, or follows the motion; it believes in the load of this slider, the arm carries the one below.";
    return element("div", {}, element("div", { class: "row" }, this.buttons.fall, this.buttons.follow, this.data.frictional ? element("label", {}, friction, " friction") : ""), believed.row, element("div", { class: "caption" }, "largest error now: ", this.error), element("p", { class: "caption" }, words));
  }

  get heaviest() {
    return Math.max(1, Math.round(0.25 * this.data.mass));
  }

  loadPanel() {
    const change = (/** @type {string} */ key) => (/** @type {number} */ x) => {
      this.model.load = { ...this.model.load, [key]: key === "mass" ? Math.max(0, x) : x };
      this.believed = { ...this.model.load, mass: this.believed.mass };
      this.changedArm();
    };
    const far = 0.25 * this.size;
    const load = [slider({ label: "load", min: 0, max: this.heaviest, value: 0, unit: "kg", id: "payload", change: change("mass") })];
    for (const axis of ["x", "y", "z"]) load.push(slider({ label: `its ${axis} in the tool`, min: -far, max: far, value: 0, unit: "m", id: `payload-${axis}`, change: change(axis) }));
    const turn = { tilt: 0, heading: 0 };
    const tilt = (/** @type {"tilt" | "heading"} */ key) => (/** @type {number} */ x) => {
      turn[key] = (x * Math.PI) / 180;
      const g = norm(this.data.gravity) || 9.81;
      const [s, c] = [Math.sin(turn.tilt), Math.cos(turn.tilt)];
      this.model.gravity = turn.tilt ? [g * s * Math.cos(turn.heading), g * s * Math.sin(turn.heading), -g * c] : [...this.data.gravity];
      this.changedArm();
    };
    load.push(slider({ label: "gravity's tilt", min: 0, max: 180, value: 0, unit: "°", id: "tilt", change: tilt("tilt") }));
    load.push(slider({ label: "towards", min: 0, max: 360, value: 0, unit: "°", id: "heading", change: tilt("heading") }));
    return element("div", {}, ...load.map((one) => one.row), element("p", { class: "caption" }, "Tilt 90° mounts the arm on a wall, 180° on the ceiling."));
  }

  energyPanel() {
    const one = (/** @type {string} */ label, /** @type {string} */ id) => element("div", {}, label, element("output", { id }));
    return element("div", { class: "numbers" }, one("kinetic [J]", "kinetic"), one("potential [J]", "potential"), one("total [J]", "total"), one("drift since let go [J]", "drift"), one("drift / largest kinetic", "relative-drift"));
  }

  buildTransport() {
    this.play = element("button", { type: "button", id: "play", class: "main", onclick: () => this.toggle("motion") }, "▶ play");
    this.scrub = element("input", { type: "range", id: "scrub", min: 0, max: 1, step: "any", value: 0, "aria-label": "time", oninput: () => this.seek(this.scrub.valueAsNumber * this.duration) });
    this.clock = element("output", { id: "clock" });
    const speed = element("select", { id: "speed", "aria-label": "speed of playback", onchange: () => (this.speed = Number(speed.value)) }, ...["0.1", "0.25", "0.5", "1", "2"].map((x) => element("option", { value: x, selected: x === "1" }, `${x}×`)));
    const place = (/** @type {"A" | "B"} */ name) => element("button", { type: "button", title: `the present pose becomes ${name}`, onclick: () => { this.ends[name] = [...this.q]; this.fromAToB(); } }, `set ${name}`);
    byId("transport").replaceChildren(this.play, this.scrub, this.clock, speed, place("A"), place("B"), element("button", { type: "button", id: "a-to-b", onclick: () => this.fromAToB() }, "A → B"));
    const { joints } = this.data;
    const seek = (/** @type {number} */ time) => this.seek(time);
    const names = joints.map((joint) => joint.name);
    const mixed = joints.some((joint) => joint.kind === "P");
    const unit = (/** @type {string} */ end) => (mixed ? `rad${end}, m${end}` : `rad${end}`);
    const plot = (/** @type {string} */ label, /** @type {string} */ u) => new Plot({ label, unit: u, names, seek });
    this.plots = [plot("position", unit("")), plot("speed", unit("/s"))];
    if (this.data.dynamics) this.plots.push(plot("torque", mixed ? "N m, N" : "N m"));
    byId("plots").replaceChildren(legend(names), ...this.plots.map((one) => one.root));
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
    const read = (/** @type {number} */ k) => this.typed.map((row) => row[k].valueAsNumber || 0);
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
    if (mode === "motion" && !this.motion) this.fromAToB();
    if (mode === "motion" && this.time >= this.duration - 1e-9) this.time = 0;
    if (mode === "follow") {
      this.goal = this.motion ? this.motion.at(0).q : [...this.q];
      if (this.motion) this.q = [...this.goal];
      this.qd = this.zeros();
      this.time = 0;
    }
    this.setMode(mode);
    if (mode === "fall" || mode === "follow") this.restart();
  }

  fromAToB() {
    this.motion = Motion.between(this.ends.A, this.ends.B, 2);
    this.time = 0;
    this.showMotion();
    this.setMode("motion");
  }

  /** @param {number} time */
  seek(time) {
    if (!this.motion) this.fromAToB();
    this.time = Math.max(0, Math.min(time, this.duration));
    this.setMode("still");
    this.take(this.motion.at(this.time));
  }

  get duration() {
    return this.motion ? this.motion.duration : 2;
  }

  /** @param {string} mode */
  setMode(mode) {
    this.mode = mode;
    this.play.textContent = mode === "motion" ? "❚❚ pause" : "▶ play";
    for (const [name, button] of Object.entries(this.buttons ?? {})) button.setAttribute("aria-pressed", String(name === mode));
  }

  /** Energies are counted from here on. */
  restart() {
    this.work = 0;
    this.lost = 0;
    this.sinceTime = 0;
    this.largestKinetic = 0;
    this.drift = 0;
    this.changedState();
    this.start = this.total;
    this.path = [];
    this.history = { t: [], rows: [[], [], []] };
  }

  changedArm() {
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
    const elapsed = Math.min(0.05, (now - (this.last ?? now)) / 1000) * this.speed;
    this.last = now;
    const moves = /** @type {Record<string, (dt: number) => void>} */ ({ hand: (dt) => this.come(dt), motion: (dt) => this.along(dt), fall: (dt) => this.simulate(dt), follow: (dt) => this.simulate(dt) });
    if (elapsed > 0 && moves[this.mode]) moves[this.mode](elapsed);
    if (this.stale) {
      this.stale = false;
      this.render();
      this.showNumbers();
      if (now - this.slow > SLOWLY) this.showSlowly(now);
      else this.owed = true;
    } else if (this.owed) this.showSlowly(now);
    this.drawn += 1;
    requestAnimationFrame((next) => this.frame(next));
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
    const before = this.qd;
    let rest = Math.max(1, Math.round(dt / STEP));
    const span = rest * STEP;
    const given = { work: [this.work], lost: [this.lost], share: [this.share], payload: this.model.payload, gravity: this.model.gravity };
    while (rest > 0) {
      const steps = this.mode === "follow" ? Math.min(HOLD, rest) : rest;
      const state = { ...given, q: this.q, qd: this.qd, work: [this.work], lost: [this.lost], ...(this.mode === "follow" ? this.targets() : {}) };
      const end = this.kernels[this.mode](state, { dt: STEP, steps });
      [this.q, this.qd] = [Array.from(end.q), Array.from(end.qd)];
      [this.work, this.lost] = [end.work[0], end.lost[0]];
      rest -= steps;
      this.sinceTime += steps * STEP;
      this.time = this.mode === "follow" ? Math.min(this.sinceTime, this.duration) : this.time;
    }
    if (!this.q.every(Number.isFinite) || this.qd.some((x) => Math.abs(x) > 1e4)) {
      this.take({ q: [...this.data.q], qd: this.zeros(), qdd: this.zeros() });
      this.setMode("still");
      byId("readout").textContent = "The simulation ran away: speeds grew beyond what its step resolves.";
      return;
    }
    this.qdd = this.qd.map((x, j) => (x - before[j]) / span);
    this.changedState();
    this.largestKinetic = Math.max(this.largestKinetic, this.now.kinetic);
    this.drift = this.total - this.start - this.work + this.lost;
    this.remember(span);
  }

  /** What the controller is to reach now. */
  targets() {
    const wanted = this.motion ? this.motion.at(this.sinceTime) : { q: this.goal, qd: this.zeros(), qdd: this.zeros() };
    this.wanted = wanted.q;
    return { goal: wanted.q, rate: wanted.qd, push: wanted.qdd, kp: [225], kd: [30], believed: tenNumbers(this.believed) };
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

  render() {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const aspect = this.renderer.fit();
    const matrix = this.camera.matrix(aspect);
    const ease = this.layers.ease && this.now ? easeAxes(this.places.J, this.now.M) : null;
    const path = this.mode === "fall" || this.mode === "hand" || !this.motionPath ? this.path : this.motionPath;
    const ghost = this.mode === "follow" && this.wanted ? this.look(this.wanted) : null;
    const { data, size, layers } = this;
    const scene = buildScene(this.places, { data, size, layers, dark, held: Boolean(this.held), load: this.model.load, gravity: this.model.gravity, path, ghost, ease });
    this.grid = this.grid ?? new Map();
    if (!this.grid.has(dark)) this.grid.set(dark, floorLines(size, this.floor, dark));
    this.renderer.draw({ ...scene, matrix, eye: this.camera.eye, lines: this.grid.get(dark), floor: this.floor, shadow: dark ? [0, 0, 0, 0.4] : [0.05, 0.1, 0.14, 0.16] });
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
      const label = this.labels[k];
      label.hidden = !this.layers.frames || depth <= 0 || crowded || at[0] < 0 || at[1] < 0 || at[0] > width - 8 || at[1] > height - 8;
      if (!label.hidden) taken.push(at);
      label.style.transform = `translate(${at[0].toFixed(1)}px, ${at[1].toFixed(1)}px)`;
    });
  }

  showNumbers() {
    this.sliders.forEach((one, j) => one.set(this.mode === "hand" ? this.goal[j] : this.q[j]));
    if (this.now) {
      this.bars.show(this.now.tau, this.now.terms);
      tell(byId("kinetic"), this.now.kinetic);
      tell(byId("potential"), this.places.potential);
      tell(byId("total"), this.total);
      tell(byId("drift"), this.drift, "", 3);
      tell(byId("relative-drift"), this.largestKinetic ? Math.abs(this.drift) / this.largestKinetic : 0, "", 3);
      if (this.mode === "follow" && this.wanted) tell(this.error, Math.max(...this.q.map((x, j) => Math.abs(x - this.wanted[j]))), "", 4);
    }
    const seconds = this.mode === "fall" ? this.sinceTime : this.time;
    this.clock.textContent = `${shown(seconds)} s`;
    if (this.mode !== "fall") this.scrub.value = String(this.time / this.duration);
  }

  /** @param {number} [now] */
  showSlowly(now = performance.now()) {
    this.slow = now;
    this.owed = false;
    const { tool } = this.places;
    const text = `tool ${tool.map((x) => shown(x, 3)).join(", ")} m`;
    byId("readout").textContent = text;
    byId("readout").dataset.value = JSON.stringify(tool);
    const exact = document.activeElement?.closest?.("#exact");
    if (!exact) this.typed.forEach((row, j) => [this.q, this.qd, this.qdd].forEach((x, k) => (row[k].value = String(x[j]))));
    if (this.map) this.map.show(this.now.M);
    if (this.equations) {
      const { kernel } = this.equations.paper;
      this.equations.show(this.kernels[kernel](this.q, this.qd, this.qdd, this.model.payload, this.model.gravity));
    }
    this.showHistory();
  }

  showHistory() {
    const live = this.mode === "fall" || this.mode === "follow" || this.mode === "hand";
    if (live && this.history.t.length > 1) {
      this.plots.forEach((plot, k) => plot.show(this.history.t, this.history.rows[k], k === 2 ? this.limits : []));
      this.plots.forEach((plot) => plot.mark(this.history.t[this.history.t.length - 1]));
      this.showsHistory = true;
    } else if (!live) {
      if (this.showsHistory && this.motion) this.showMotion();
      this.plots.forEach((plot) => plot.mark(this.time));
    }
  }

  get limits() {
    return this.data.joints.map((joint) => joint.effort);
  }

  /** Plots and path of the motion, its torques computed here. */
  showMotion() {
    this.showsHistory = false;
    if (!this.motion) return;
    const { t, q, qd, qdd } = this.motion;
    const rows = [q, qd];
    if (this.data.dynamics) {
      const tau = this.model.torques(t.map((_, k) => /** @type {any} */ ([q[k], qd[k], qdd[k], this.model.gravity])));
      rows.push(t.map((_, k) => Array.from(tau.subarray(k * this.n, (k + 1) * this.n))));
    }
    this.plots.forEach((plot, k) => plot.show(t, rows[k], k === 2 ? this.limits : []));
    const every = Math.max(1, Math.floor(t.length / 200));
    this.motionPath = q.filter((_, k) => k % every === 0 || k === t.length - 1).map((row) => this.look(row).tool);
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
    /** @type {any} */ (globalThis).forearmView = new App(data, await instantiate(fromBase64(data.module), data.interface));
  } catch (error) {
    byId("readout").textContent = `This browser cannot show the arm: ${/** @type {Error} */ (error).message}`;
  }
}
