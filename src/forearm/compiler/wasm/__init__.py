"""From a graph to WebAssembly, written directly: no linker, no imports, a kernel of a few kilobytes.

bytecode        numbers, sections and the writer of a module: functions, types, one memory
dialects        what an operation is in bytecode, for one state and for two at once
module_products a fused multiply-add made of products and sums, and which graphs need it
module_sines    sine and cosine with and without it, and the same in Python to the last bit
shared_functions  what the functions of a module call
graph_functions a graph as a function of arrays in memory
step_functions  a step graph with its loop: Runge-Kutta and semi-implicit Euler inside the module
wasm_host       arrays into a module's memory and out of it, in Python
wasm_kernel     WasmKernel, the target "wasm"; it runs in Python where wasmtime is installed
wasm_rollout    WasmRollout, the same for simulations
module_files    a module with its loader in JavaScript (loader.js) and types for TypeScript
"""
