"""NVIDIA GPUs: PTX from the same emitter (llvm/ptx), one state for each thread. Loaded through CuPy (the extra `gpu`).

device         the GPU at hand: whether there is one, programs in its memory, streams
gpu_kernel     kernels of arrays on the GPU
gpu_rollout    simulations of arrays on the GPU
host_rollout   the same for arrays on the host
"""
