"""Quantities of an arm inside PyTorch and JAX, to any order of derivatives.

torch_functions       compiled kernels that autograd, vmap and torch.func see through, on the CPU and on the GPU
jax_functions         jax.numpy operations, which JAX differentiates itself: CPU, GPU, TPU
jax_callbacks         the compiled kernel inside JAX, on the CPU, with compiled first derivatives
derivative_kernels    a graph, its derivatives by sweeps both ways, theirs in turn: kernels made when asked for
framework_inputs      what is given to such functions, checked
"""

from forearm.frameworks.jax_functions import jax_function as jax_function
from forearm.frameworks.torch_functions import torch_function as torch_function
