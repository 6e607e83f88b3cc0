"""The compiler: an arm's quantity becomes a kernel.

    pipeline    compile: the way from an arm to a kernel, one arrow after the other
    function_kernels   compile_function: kernels of the user's own functions
    kernel      what every kernel is, wherever it runs
    graph/      scalar operations as data: tracing, passes, derivatives, the reference interpreter
    model/      the arm's quantities as graphs; base parameters, free parameters, the choice of a formulation
    llvm/       from a graph to machine code: the one emitter
    call/       arrays in and out, past Python; threads
    cuda/       kernels on NVIDIA GPUs: what llvm/ptx wrote, loaded and launched
    wasm/       from a graph to WebAssembly, for browsers
    sources/    from a graph to something to read or to build elsewhere: C, NumPy, CasADi, JAX
    store/      what is kept on disk
    fork_locks  locks that a child process finds free
    browser_modules   kernels and simulations of an arm in one WebAssembly module: emit_wasm

Each may use those before it in the order graph, fork_locks, store, kernel, model, llvm, sources, call, cuda, wasm,
pipeline, function_kernels, browser_modules.
"""
