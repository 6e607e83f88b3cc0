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
   * Inputs into the memory, the function, outputs of these sizes out of it.
   * @param {string} name
   * @param {Numbers[]} inputs
   * @param {number[]} sizes
   * @param {number[]} first arguments before the places of arrays
   */
  run(name, inputs, sizes, first) {
    const places = this.places([...inputs.map((input) => input.length), ...sizes]);
    inputs.forEach((input, k) => this.view.set(input, places[k] / 8));
    this.exports[name](...first, ...places);
    const outputs = places.slice(inputs.length).map((place) => place / 8);
    return outputs.map((at, k) => this.view.slice(at, at + sizes[k]));
  }

  /**
   * @param {string} name
   * @param {Signature} signature
   * @param {Numbers[]} inputs
   */
  call(name, signature, inputs) {
    const count = this.statesOf(name, signature, inputs);
    const sizes = signature.outputs.map(([, shape]) => count * sizeOf(shape));
    const found = this.run(name, inputs, sizes, [count]);
    return found.length === 1 ? found[0] : named(signature, found);
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
    const odd = [steps, every].some((k) => k !== (k & 0x7fffffff));
    if (odd) throw new RangeError(`${name}: steps are ${steps}, every ${every}; give whole numbers below 2 ** 31.`);
    const rows = every ? Math.floor(steps / every) + 1 : 0;
    const ends = signature.outputs.map(([, shape]) => count * sizeOf(shape));
    const found = this.run(name, inputs, [...ends, ...ends.map((k) => k * rows)], [count, steps, every, dt, start]);
    return { ...named(signature, found), record: every ? named(signature, found.slice(ends.length)) : null };
  }
}

/**
 * Outputs by their names.
 * @param {Signature} signature
 * @param {Float64Array[]} found
 */
function named({ outputs }, found) {
  return Object.fromEntries(outputs.map(([name], k) => [name, found[k]]));
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
    functions[name] = signature.rollout
      ? (/** @type {Record<string, Numbers>} */ given, /** @type {Steps} */ how) =>
          instance.roll(name, signature, given, how)
      : (/** @type {Numbers[]} */ ...inputs) => instance.call(name, signature, inputs);
  }
  return functions;
}

export { fromBase64, instantiate };
