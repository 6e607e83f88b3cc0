"""Arrays of other libraries that hold no numbers we can read: one sentence, by every function."""

import pytest

import forearm as fa

RR = fa.load("rr")
torch = pytest.importorskip("torch", reason="needs PyTorch")
STATE = torch.zeros(2, dtype=torch.float64)
ODD = {
    "q is on meta; give it on the CPU": lambda: torch.empty(2, device="meta", dtype=torch.float64),
    "q is torch.sparse_coo; give a dense tensor": STATE.to_sparse,
    "q is torch.bfloat16; give torch.float64 or torch.float32": lambda: STATE.to(torch.bfloat16),
    "q is nested; give a dense tensor": lambda: torch.nested.nested_tensor([STATE, STATE]),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("says", ODD)
def test_a_tensor_without_plain_numbers_gets_one_sentence(says):
    for call in (fa.gravity_torque, fa.mass_matrix, fa.jacobian):
        with pytest.raises(fa.StateFault, match=says):
            call(RR, ODD[says]())


@pytest.mark.parametrize("fa_call", [fa.gravity_torque, fa.mass_matrix, fa.compile(RR, "gravity_torque")])
def test_half_a_float_that_numpy_does_not_have_gets_one_sentence(fa_call):
    """Got unsupported ScalarType BFloat16."""
    given = (STATE.bfloat16(),) if isinstance(fa_call, fa.Kernel) else (RR, STATE.bfloat16())
    with pytest.raises(
        fa.StateFault, match=r"gives no array of numbers .*BFloat16|is torch\.bfloat16; give torch\.float64"
    ):
        fa_call(*given)


def shrunk(*shape, left=0):
    tensor = torch.zeros(shape, dtype=torch.float64)
    tensor.untyped_storage().resize_(left)
    return tensor


GIVEN_BACK = r"is a tensor of \d+ bytes whose storage has \d+: it was shrunk, or given back"
KERNEL, TORQUE = fa.compile(RR, "gravity_torque"), fa.torch_function(RR, "gravity_torque")
TAKE_TENSORS = {
    "call": lambda q: fa.gravity_torque(RR, q),
    "matrix": lambda q: fa.mass_matrix(RR, q),
    "kernel": lambda q: KERNEL(q),
    "function": lambda q: TORQUE(q),
    "motion": lambda q: fa.simulate(RR, q, duration=0.01),
    "pose": lambda q: fa.pose(RR, q),
}


@pytest.mark.parametrize("call", TAKE_TENSORS.values(), ids=TAKE_TENSORS)
@pytest.mark.parametrize("left", [0, 16, 64])
def test_a_tensor_whose_storage_was_given_back_gave_torques_of_whatever_lay_there(call, left):
    with pytest.raises(fa.StateFault, match=f"q.* {GIVEN_BACK}"):
        call(shrunk(50, 2, left=left))
    assert call(torch.zeros(1, 2, dtype=torch.float64).expand(50, 2)) is not None  # few numbers, stretched


def test_torques_were_written_beyond_the_storage_of_a_tensor():
    """free(): invalid next size."""
    with pytest.raises(fa.StateFault, match=f"out {GIVEN_BACK}"):
        fa.gravity_torque(RR, torch.zeros(50, 2, dtype=torch.float64), out=shrunk(50, 2, left=64))


class Symbols:
    """As CasADi's: what other arrays have as labels, it has as methods."""

    shape = (2, 1)

    def columns(self):
        return 1

    def index(self):
        return 1

    def __array__(self, *_, **__):
        raise TypeError("no numbers")


def test_symbols_of_another_library_get_one_sentence():
    """'method' object is not iterable."""
    with pytest.raises(fa.StateFault, match="gives no array of numbers"):
        fa.gravity_torque(RR, Symbols())


def test_an_array_of_numpy_for_the_results_of_tensors_was_an_attribute_error():
    with pytest.raises(fa.StateFault, match="out is ndarray; give what PyTorch makes, as the states are"):
        fa.gravity_torque(RR, STATE, out=STATE.numpy().copy())
