/**
 * Calls the functions of a forearm module. Numbers go in and come out as plain arrays: one state, or a batch with one
 * state after the other. All of it is ordinary JavaScript without dependencies.
 *
 * @typedef {Float64Array | readonly number[]} Numbers
 * @typedef {[string, number[]]} Port
 * @typedef {{inputs: Port[], outputs: Port[], rollout?: string}} Signature
 * @typedef {{dt: number, steps: number, every?: number, start?: number}} Steps
 */

/** @param {number[]} shape */
function sizeOf(shape) {
  return shape.reduce((a, b) => a * b, 1);
}

/** @param {string} text */
function fromBase64(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

/** One instance of a module and its memory. */
class Instance {
  /** @param {WebAssembly.Instance} instance */
  constructor(instance) {
    this.exports = /** @type {any} */ (instance.exports);
    /** @type {WebAssembly.Memory} */
    this.memory = this.exports.memory;
    /** @type {number} */
    this.heap = this.exports.heap.value;
    this.view = new Float64Array(this.memory.buffer);
  }

  /**
   * Places for arrays of these sizes: the memory grows where it must, and then its views are made anew.
   * @param {number[]} sizes
   */
  places(sizes) {
    let end = this.heap;
    const found = sizes.map((size) => {
      const here = end;
      end += 8 * size;
      return here;
    });
    const missing = end - this.memory.buffer.byteLength;
    if (missing > 0) this.memory.grow(Math.ceil(missing / 65536));
    if (this.view.buffer !== this.memory.buffer) this.view = new Float64Array(this.memory.buffer);
    return found;
  }

  /**
   * @param {string} name
   * @param {Signature} signature
   * @param {Numbers[]} inputs
   */
  call(name, signature, inputs) {
    const count = this.statesOf(name, signature, inputs);
    const outputs = signature.outputs.map(([, shape]) => count * sizeOf(shape));
    const places = this.places([...inputs.map((input) => input.length), ...outputs]);
    inputs.forEach((input, k) => this.view.set(input, places[k] / 8));
    this.exports[name](count, ...places);
    return outputs.map((size, k) => this.read(places[inputs.length + k], size));
  }

  /**
   * How many states were given; every input must have as many.
   * @param {string} name
   * @param {Signature} signature
   * @param {Numbers[]} inputs
   */
  statesOf(name, signature, inputs) {
    const names = signature.inputs.map(([port]) => port).join(", ");
    if (inputs.length !== signature.inputs.length || inputs.some((input) => input === undefined)) {
      throw new TypeError(`${name}: got ${inputs.length} arrays; give ${signature.inputs.length}: ${names}.`);
    }
    const counts = inputs.map((input, k) => input.length / sizeOf(signature.inputs[k][1]));
    const count = counts.length ? counts[0] : 1;
    counts.forEach((given, k) => {
      if (given === count && Number.isInteger(given)) return;
      const [port, shape] = signature.inputs[k];
      throw new RangeError(`${name}: ${port} has ${inputs[k].length} numbers; give ${sizeOf(shape)} for each state.`);
    });
    return count;
  }

  /**
   * @param {string} name
   * @param {Signature} signature
   * @param {Record<string, Numbers>} given
   * @param {Steps} how
   */
  roll(name, signature, given, how) {
    const inputs = signature.inputs.map(([port]) => given[port]);
    const count = this.statesOf(name, signature, inputs);
    const { dt, steps, every = 0, start = 0 } = how;
    const rows = every ? Math.floor(steps / every) + 1 : 0;
    const ends = signature.outputs.map(([, shape]) => count * sizeOf(shape));
    const sizes = [...inputs.map((input) => input.length), ...ends, ...ends.map((size) => size * rows)];
    const places = this.places(sizes);
    inputs.forEach((input, k) => this.view.set(input, places[k] / 8));
    this.exports[name](count, steps, every, dt, start, ...places);
    const read = (/** @type {number} */ k) => this.read(places[inputs.length + k], sizes[inputs.length + k]);
    const names = signature.outputs.map(([port]) => port);
    const end = Object.fromEntries(names.map((port, k) => [port, read(k)]));
    const record = every ? Object.fromEntries(names.map((port, k) => [port, read(names.length + k)])) : null;
    return { ...end, record };
  }

  /**
   * @param {number} place
   * @param {number} size
   */
  read(place, size) {
    return this.view.slice(place / 8, place / 8 + size);
  }
}

/**
 * The functions of a module, by name: each takes one array for each input and gives its output, or an object of them.
 * @param {Uint8Array<ArrayBuffer>} bytes
 * @param {Record<string, Signature>} signatures
 * @returns {Promise<Record<string, any>>}
 */
async function instantiate(bytes, signatures) {
  const found = await WebAssembly.instantiate(bytes, {});
  const instance = new Instance(found.instance);
  /** @type {Record<string, any>} */
  const functions = {};
  for (const [name, signature] of Object.entries(signatures)) {
    const names = signature.outputs.map(([port]) => port);
    if (signature.rollout) {
      functions[name] = (/** @type {Record<string, Numbers>} */ given, /** @type {Steps} */ how) =>
        instance.roll(name, signature, given, how);
    } else {
      functions[name] = (/** @type {Numbers[]} */ ...inputs) => {
        const outputs = instance.call(name, signature, inputs);
        return names.length === 1 ? outputs[0] : Object.fromEntries(names.map((port, k) => [port, outputs[k]]));
      };
    }
  }
  return functions;
}

export { fromBase64, instantiate };
