/** What the reader handles: sliders, buttons, numbers. Each tells the app, which knows what to do. */
import { byId, element, slider } from "./elements.js";
import { mix, scale } from "./linear.js";

/** @typedef {import("./app.js").App} App */

/** @param {App} app */
export function buildControls(app) {
  const { data } = app;
  for (const part of document.querySelectorAll("[data-masses]")) part.toggleAttribute("hidden", !data.dynamics);
  document.querySelector("[data-friction]")?.toggleAttribute("hidden", !data.frictional);
  const reach = 0.25 * data.size;
  const sizes = { load: Number((0.25 * data.mass).toPrecision(1)) || 1, reach, "-reach": -reach };
  for (const place of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-slider]"))) {
    const { slider: id = "", label = "", min = "0", max = "1", unit = "" } = place.dataset;
    const [low, high] = [min, max].map((word) => /** @type {Record<string, number>} */ (sizes)[word] ?? Number(word));
    place.replaceWith(slider({ label, min: low, max: high, value: 0, unit, id, change: changes(app)[id] }).row);
  }
  const layers = /** @type {Record<string, boolean>} */ (app.stage.layers);
  listen("[data-layer]", "click", (button) => {
    layers[button.dataset.layer] = !layers[button.dataset.layer];
    button.setAttribute("aria-pressed", String(layers[button.dataset.layer]));
    app.stale = true;
  });
  listen("[data-mode]", "click", (button) => app.toggle(button.dataset.mode));
  listen("#play", "click", () => app.toggle("motion"));
  listen("#scrub", "input", (scrub) => app.seek(scrub.valueAsNumber * app.motion.duration));
  listen("#speed", "change", (speed) => (app.speed = Number(speed.value)));
  listen("#friction", "change", (box) => app.changeArm(() => (app.model.share = box.checked ? 1 : 0)));
  listen("#set-a", "click", () => app.fromAToB({ A: [...app.q] }));
  listen("#set-b", "click", () => app.fromAToB({ B: [...app.q] }));
  listen("#a-to-b", "click", () => app.fromAToB());
  byId("positions").append(...Object.keys(data.configurations).map((name) => element("option", { value: name }, name)));
  byId("positions").hidden = !Object.keys(data.configurations).length;
  listen("#positions", "change", (box) => box.value && app.aim([...data.configurations[box.value]]));
  return { sliders: jointSliders(app), typed: stateTable(app) };
}

/**
 * @param {string} which
 * @param {string} event
 * @param {(target: any) => void} act
 */
function listen(which, event, act) {
  for (const target of document.querySelectorAll(which)) target.addEventListener(event, () => act(target));
}

/**
 * What each slider changes.
 * @param {App} app
 * @returns {Record<string, (x: number) => void>}
 */
function changes(app) {
  const { model, data } = app;
  const load = (/** @type {Partial<import("./model.js").Load>} */ change) => () => {
    Object.assign(model.load, change);
    app.believed = { ...model.load, mass: app.believed.mass };
  };
  const turn = (/** @type {Partial<{tilt: number, heading: number}>} */ change) => () => {
    Object.assign(app.turn, change);
    const [tilt, heading] = [app.turn.tilt, app.turn.heading].map((angle) => (angle * Math.PI) / 180);
    const g = Math.hypot(...data.gravity) || 9.81;
    const way = [Math.sin(tilt) * Math.cos(heading), Math.sin(tilt) * Math.sin(heading), -Math.cos(tilt)];
    model.gravity = tilt ? scale(mix(data.axes, way), g) : [...data.gravity]; // from where the arm's own points
  };
  return {
    believed: (x) => (app.believed = { ...model.load, mass: Math.max(0, x) }),
    payload: (x) => app.changeArm(load({ mass: Math.max(0, x) })),
    "payload-x": (x) => app.changeArm(load({ x })),
    "payload-y": (y) => app.changeArm(load({ y })),
    "payload-z": (z) => app.changeArm(load({ z })),
    tilt: (tilt) => app.changeArm(turn({ tilt })),
    heading: (heading) => app.changeArm(turn({ heading })),
  };
}

/** @param {App} app */
function jointSliders(app) {
  const made = app.data.joints.map((joint, j) => {
    const [way, unit] = joint.kind === "R" ? [Math.PI, "rad"] : [app.data.size, "m"];
    const [min, max] = joint.limits.map((x, k) => x ?? (joint.limits[1 - k] ?? 0) + [-way, way][k]);
    const change = (/** @type {number} */ x) => app.aim(app.goal.map((y, k) => (k === j ? x : y)));
    return slider({ label: joint.name, min, max, value: app.q[j], unit, id: `q-${j}`, change });
  });
  byId("joints").replaceChildren(...made.map((one) => one.row));
  return made;
}

/**
 * Fields for q, qd and qdd of each joint, to the last digit.
 * @param {App} app
 */
function stateTable(app) {
  const typed = app.data.joints.map((joint, j) =>
    ["q", "qd", "qdd"].map((kind) => {
      const about = { id: `${kind}-${j}-exact`, "aria-label": `${kind} of ${joint.name}` };
      return element("input", { type: "number", step: "any", value: "0", ...about, onchange: () => app.typedState() });
    }),
  );
  const rows = app.data.joints.map((joint, j) => {
    const cells = typed[j].map((input) => element("td", {}, input));
    return element("tr", {}, element("th", { scope: "row" }, joint.name), ...cells);
  });
  byId("numbers").replaceChildren(...rows);
  return typed;
}
