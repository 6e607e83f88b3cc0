/** Elements of the page: built from text, never from markup. */

/**
 * An element with attributes and children; strings become text.
 * @param {string} tag with its class, `div.slider`
 * @param {Record<string, any>} [attributes] `on…` are listeners, the rest attributes
 * @param {...(Node | string)} children
 * @returns {any}
 */
export function element(tag, attributes = {}, ...children) {
  const [kind, ...names] = tag.split(".");
  const made = document.createElement(kind);
  made.className = names.join(" ");
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children);
  return made;
}

/** @param {string} id */
export function byId(id) {
  return /** @type {any} */ (document.getElementById(id));
}

/**
 * A number as people read it; what is nothing but roundoff is zero.
 * @param {number} x
 * @param {number} digits after the point at most
 * @param {boolean} powers whether small ones are written with a power of ten
 */
export function shown(x, digits = 2, powers = true) {
  if (!Number.isFinite(x)) return "–";
  const size = Math.abs(x);
  const small = size < 10 ** -digits / 2;
  if (size < 1e-13 || (small && !powers)) return (0).toFixed(digits);
  if (small || size >= 1e5) return x.toExponential(1).replace("-", "−").replace("e-", "e−");
  return x.toFixed(size >= 1000 ? 0 : size >= 100 ? Math.min(1, digits) : digits).replace("-", "−");
}

/**
 * What a size is written in: a power of a thousand and its letter; nothing of the kind for ordinary sizes.
 * @param {number} size
 * @returns {[number, string]}
 */
export function prefix(size) {
  if (!(size > 0) || (size >= 0.1 && size < 1e5)) return [1, ""];
  const power = Math.max(-4, Math.min(4, Math.floor(Math.log10(size) / 3)));
  return [10 ** (3 * power), "pnµm kMGT"[power + 4]];
}

/**
 * Put a number into an element: short for the eye, to the last digit in its data.
 * @param {any} target
 * @param {number} x
 * @param {string} text
 */
export function tell(target, x, text = shown(x)) {
  if (target.textContent !== text) target.textContent = text;
  target.dataset.value = String(x);
}

/**
 * A labelled slider with a number beside it; both say the same.
 * @param {{label: string, min: number, max: number, value: number, unit: string, id: string,
 *          change: (value: number) => void}} options
 */
export function slider({ label, min, max, value, unit, id, change }) {
  const about = { "aria-label": `${label} ${unit}` };
  const step = Number(((max - min) / 1000).toPrecision(1));
  const range = element("input", { type: "range", id, min, max, step: "any", value, ...about });
  const round = (/** @type {number} */ x) => String(Number(x.toFixed(Math.max(4, 1 - Math.floor(Math.log10(step))))));
  const number = element("input", { type: "number", id: `${id}-number`, step, value: round(value), ...about });
  const taken = (/** @type {HTMLInputElement} */ from) => {
    const given = from.valueAsNumber;
    if (!Number.isFinite(given)) return;
    if (from === range) number.value = round(given);
    else range.value = String(given);
    change(given);
  };
  range.addEventListener("input", () => taken(range));
  number.addEventListener("input", () => taken(number));
  const name = element("label", { for: id, title: label }, label);
  const row = element("div.slider", {}, name, range, number, element("span.unit", {}, unit));
  const set = (/** @type {number} */ x) => {
    range.value = String(x);
    if (document.activeElement !== number) number.value = round(x);
  };
  return { row, set };
}

/**
 * Names with their colours.
 * @param {string[]} names
 * @param {string[]} colors
 */
export function legend(names, colors) {
  const entries = names.map((name, k) => element("span", {}, colored("i", colors[k]), name));
  return element("div.legend", {}, ...entries);
}

/**
 * @param {string} tag
 * @param {string} color of its background
 */
export function colored(tag, color) {
  const made = element(tag);
  made.style.background = color;
  return made;
}
