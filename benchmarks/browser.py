"""Time WebAssembly kernels in Chromium: ns a state of a batch, one state and two at once, and one call from JavaScript.

Accelerations twice: with multiply-adds rounded once, as they are written, and with products and sums rounded apart.

    python benchmarks/browser.py panda puma560

Chromium's clock ticks at 0.1 ms, so each figure is the fastest of 150 windows of 4 ms, which a busy machine disturbs
least; it is good to 3 %. Native figures: benchmarks/run.py.
"""

import base64
import json
import sys

import forearm as fa
from forearm.compiler.wasm.module_files import interface
from forearm.compiler.wasm.wasm_kernel import WasmKernel

STATES = 500
FLAGS = ["--no-sandbox", "--no-first-run", "--disable-background-networking"]
SCRIPT = """async ({ module, ports, rows, states }) => {
  const bytes = Uint8Array.from(atob(module), (c) => c.charCodeAt(0));
  const { exports } = (await WebAssembly.instantiate(bytes, {})).instance;
  exports.memory.grow(Math.ceil((rows.length * 8 + 8 * states * 64 * 8) / 65536));
  const view = new Float64Array(exports.memory.buffer), heap = exports.heap.value, at = [];
  let end = heap, from = 0;
  for (const [, shape] of ports.inputs) {
    const size = states * shape.reduce((a, b) => a * b, 1);
    at.push(end); view.set(rows.slice(from, from + size), end / 8); end += 8 * size; from += size;
  }
  for (const [, shape] of ports.outputs) { at.push(end); end += 8 * states * shape.reduce((a, b) => a * b, 1); }
  const repeats = (count) => (count === 1 ? 2000 : 1);
  const windows = (count) => {
    const found = [];
    for (let w = 0; w < 150; w++) {
      let runs = 0;
      const start = performance.now();
      while (performance.now() - start < 4) {
        for (let k = 0; k < repeats(count); k++) exports.run(count, ...at);
        runs += repeats(count);
      }
      found.push((1e6 * (performance.now() - start)) / runs / count);
    }
    return Math.min(...found);
  };
  windows(states); return [windows(states), windows(1)];
}"""


def measured(page, arm, quantity, lanes, apart):
    """ns a state of a batch, and ns of one call."""
    import numpy as np

    graph = fa.compile(arm, quantity, target="wasm").graph
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.uniform(-3, 3, STATES * port.size) for port in graph.inputs])
    kernel = WasmKernel(graph, lanes=lanes, apart=apart)
    given = {
        "module": base64.b64encode(kernel.bytes).decode(),
        "ports": interface({"run": graph}, {})["run"],
        "rows": rows.tolist(),
        "states": STATES,
    }
    return (len(kernel.bytes), *page.evaluate(SCRIPT, given))


def main(names):
    """Print one line for each arm, quantity and number of lanes."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        page = browser.new_page()
        for name in names or ["panda", "puma560"]:
            for quantity, apart in (
                ("inverse_dynamics", True),
                ("forward_dynamics", False),
                ("forward_dynamics", True),
            ):
                for lanes in (1, 2):
                    size, batch, call = measured(page, fa.load(name), quantity, lanes, apart)
                    row = {"arm": name, "quantity": quantity, "apart": apart, "lanes": lanes, "bytes": size}
                    print(
                        json.dumps(row | {"ns_a_state": round(batch, 1), "ns_a_call": round(call, 1)}),
                        flush=True,
                    )
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
