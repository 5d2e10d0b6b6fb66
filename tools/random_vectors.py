"""Writes tests/cpp/random_vectors.hpp: what NumPy's random functions give, for the tests of src/random.

Usage: python tools/random_vectors.py [OUT]. Long results are kept as a hash of their bytes; results that libm has a
part in are kept as a few doubles, since another libm may round them otherwise.
"""

import pathlib
import sys

import numpy as np

KINDS = {"pcg64": np.random.PCG64, "mt19937": np.random.MT19937}
INTEGER_TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


def fnv1a(data, value=0xCBF29CE484222325):
    """The 64-bit FNV-1a hash that the tests compute too."""
    for byte in data:
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value


def integer_cases():
    """(dtype, low, high) with an inclusive high: the edges of each type, one bit, powers of two and odd ranges."""
    for dtype in INTEGER_TYPES:
        if dtype == "bool":
            yield dtype, 0, 1
            continue
        info = np.iinfo(dtype)
        least, greatest = int(info.min), int(info.max)
        yield dtype, least, greatest
        yield dtype, 0, 99
        yield dtype, greatest - 63, greatest
        if info.bits == 64:
            yield dtype, 5, 5 + 2**32 - 1
            yield dtype, 5, 5 + 2**40
            yield dtype, least + 1, greatest - 1


def items(n, size):
    """n items of `size` bytes whose bytes count up from 0, modulo 251."""
    return (np.arange(n * size) % 251).astype(np.uint8).view(f"V{size}")


def weights(n):
    """Uneven probabilities, every fifth of them 0, that no libm has a part in."""
    p = np.array([(i % 5) * (i % 7 + 1) for i in range(n)], dtype=np.float64)
    return p / p.sum()


def state_bytes(bit_generator):
    """The state as bytes: PCG64's numbers, or MT19937's key and position."""
    state = bit_generator.state
    if state["bit_generator"] == "MT19937":
        return state["state"]["key"].astype("<u4").tobytes() + int(state["state"]["pos"]).to_bytes(4, "little")
    inner = state["state"]
    return (inner["state"].to_bytes(16, "little") + inner["inc"].to_bytes(16, "little")
            + int(state["has_uint32"]).to_bytes(4, "little") + int(state["uinteger"]).to_bytes(4, "little"))


def generator_hashes():
    """Generator's results over each bit generator."""
    for name, kind in KINDS.items():
        def fresh():
            return np.random.Generator(kind(20240229))

        for n in (1, 63, 64, 1000):
            yield f"{name}.random.{n}", fresh().random(n)
            yield f"{name}.random_f32.{n}", fresh().random(n, dtype=np.float32)
        yield f"{name}.uniform", fresh().uniform(-3.5, 1e6, 1001)
        for i, (dtype, low, high) in enumerate(integer_cases()):
            yield f"{name}.integers.{i}", fresh().integers(low, high, 500, dtype=dtype, endpoint=True)
        yield f"{name}.bytes", np.frombuffer(fresh().bytes(1003), dtype=np.uint8)
        yield f"{name}.permutation", fresh().permutation(777)
        for size in (1, 2, 4, 8, 16, 12):
            x = items(300, size)
            fresh().shuffle(x)
            yield f"{name}.shuffle.{size}", x
        yield f"{name}.choice", fresh().choice(1000, 400)
        yield f"{name}.choice_p", fresh().choice(100, 400, p=weights(100))
        yield f"{name}.choice_floyd", fresh().choice(5000, 400, replace=False)
        yield f"{name}.choice_floyd_wide", fresh().choice(2**40, 300, replace=False)
        yield f"{name}.choice_floyd_ordered", fresh().choice(5000, 400, replace=False, shuffle=False)
        yield f"{name}.choice_tail", fresh().choice(20000, 1500, replace=False, shuffle=False)
        yield f"{name}.choice_rare", fresh().choice(100, 60, replace=False, p=weights(100))

        g = fresh()
        value = fnv1a(b"")
        for i in range(120):
            n = i * 37 % 101
            step = [
                lambda: g.random(n), lambda: g.random(n, dtype=np.float32),
                lambda: g.integers(0, 9, n, dtype=np.uint8, endpoint=True),
                lambda: g.integers(-70, 20000, n, dtype=np.int16, endpoint=True),
                lambda: g.integers(0, 10**6, n, dtype=np.int32, endpoint=True),
                lambda: np.frombuffer(g.bytes(n), dtype=np.uint8),
                lambda: g.permutation(n), lambda: g.integers(0, 1, n, dtype=bool, endpoint=True),
            ][i % 8]
            value = fnv1a(step().tobytes(), value)
            g.standard_normal(n)
            g.standard_normal(n, dtype=np.float32)
            g.standard_exponential(n, dtype=np.float32)
        yield f"{name}.interleaved", value
        yield f"{name}.interleaved_state", state_bytes(g.bit_generator)


def stream_hashes():
    """Seeds, states and leaps of the bit generators."""
    yield "seed_sequence", np.random.SeedSequence([7, 2**70 + 5], spawn_key=(3, 2**33)).generate_state(50)
    yield "seed_sequence_pool", np.random.SeedSequence(2**300 + 1, pool_size=6).generate_state(20, np.uint64)
    yield "seed_sequence_child", np.random.SeedSequence(5).spawn(3)[2].spawn(1)[0].generate_state(8)
    pcg = np.random.PCG64(42)
    yield "pcg64.state", state_bytes(pcg)
    yield "pcg64.jumped", state_bytes(pcg.jumped(3))
    pcg.advance(2**100 + 12345)
    yield "pcg64.advanced", state_bytes(pcg)
    mt = np.random.MT19937(42)
    yield "mt19937.state", state_bytes(mt)
    yield "mt19937.jumped", state_bytes(mt.jumped())
    mt.random_raw(1000)
    yield "mt19937.jumped_within", state_bytes(mt.jumped(2))
    state = np.random.RandomState(9)._bit_generator
    for _ in range(30):
        state.random_raw(10**6 + 1, output=False)
    yield "mt19937.skipped", state_bytes(state)


def legacy_hashes():
    """RandomState's results."""
    def fresh():
        return np.random.RandomState(20240229)

    yield "legacy.random_sample", fresh().random_sample(1001)
    yield "legacy.uniform", fresh().uniform(1, 100, 1001)
    yield "legacy.uniform_falling", fresh().uniform(5, -7, 100)
    yield "legacy.seed_array", np.random.RandomState([1, 2**32 - 1, 3]).random_sample(700)
    yield "legacy.seed_long_array", np.random.RandomState(list(range(1000))).random_sample(700)
    for i, (dtype, low, high) in enumerate(integer_cases()):
        yield f"legacy.randint.{i}", fresh().randint(low, high + 1, 500, dtype=dtype)
    yield "legacy.bytes", np.frombuffer(fresh().bytes(1003), dtype=np.uint8)
    yield "legacy.permutation", fresh().permutation(777)
    x = items(300, 8)
    fresh().shuffle(x)
    yield "legacy.shuffle", x
    yield "legacy.choice", fresh().choice(1000, 400)
    yield "legacy.choice_p", fresh().choice(100, 400, p=weights(100))
    yield "legacy.choice_rare", fresh().choice(100, 60, replace=False, p=weights(100))
    yield "legacy.choice_all", fresh().choice(1000, 400, replace=False)


def api_hashes():
    """What the public classes add: raw words, children, streams apart, choices from arrays, whole states."""
    rows = np.arange(60.0).reshape(12, 5)
    for name, kind in KINDS.items():
        yield f"{name}.raw", kind(7).random_raw(1000)
        yield f"{name}.spawned", np.random.Generator(np.random.Generator(kind(7)).spawn(3)[2].bit_generator).random(50)
        yield f"{name}.jumped_draws", np.random.Generator(kind(7).jumped(2)).random(50)
        g = np.random.Generator(kind(7))
        yield f"{name}.choice_rows", g.choice(rows, (7, 2), p=weights(12))
        yield f"{name}.choice_columns", g.choice(rows, 3, replace=False, axis=1)
        yield f"{name}.permuted_columns", g.permutation(rows, axis=1)
    pcg = np.random.PCG64(7)
    pcg.advance(-(2**65) - 3)
    yield "pcg64.back", pcg.random_raw(10)
    state = np.random.RandomState(5)
    state.standard_normal(3)
    kind, key, pos, has_gauss, _ = state.get_state()
    yield "legacy.get_state", key.astype("<u4").tobytes() + bytes([pos % 256, pos // 256, has_gauss])
    yield "legacy.choice_array", np.random.RandomState(5).choice(rows[:, 0], 9)
    over_pcg = np.random.RandomState(np.random.PCG64(5))
    yield "legacy.over_pcg64", over_pcg.randint(0, 1000, 50)


def sampled(values):
    """Eight of the values, the last one included, so that an earlier slip in the stream shows."""
    values = np.asarray(values, dtype=np.float64)
    return values[:: -(len(values) // 8)][:8]


def sample_rows():
    """Results that libm has a part in."""
    n = 20003
    for name, kind in KINDS.items():
        def fresh():
            return np.random.Generator(kind(20240229))

        yield f"{name}.standard_normal", fresh().standard_normal(n)
        yield f"{name}.standard_normal_f32", fresh().standard_normal(n, dtype=np.float32)
        yield f"{name}.normal", fresh().normal(3, 2.5, n)
        for method in ("zig", "inv"):
            yield f"{name}.exponential_{method}", fresh().standard_exponential(n, method=method)
            yield f"{name}.exponential_{method}_f32", fresh().standard_exponential(n, method=method, dtype=np.float32)
        yield f"{name}.exponential", fresh().exponential(0.3, n)
    yield "legacy.standard_normal", np.random.RandomState(20240229).standard_normal(n)
    yield "legacy.normal", np.random.RandomState(20240229).normal(3, 2.5, n)
    yield "legacy.exponential", np.random.RandomState(20240229).exponential(0.3, n)


def as_hash(result):
    """The hash of an array's or a state's bytes; a number is a hash already."""
    if isinstance(result, int):
        return result
    return fnv1a(result if isinstance(result, bytes) else result.tobytes())


def main():
    """Writes the header."""
    default = pathlib.Path(__file__).resolve().parent.parent / "tests" / "cpp" / "random_vectors.hpp"
    out = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default
    lines = [
        f"// What NumPy {np.__version__} gives, written by tools/random_vectors.py: not to be edited.",
        "",
        "#pragma once",
        "",
        "#include <cstdint>",
        "",
        "namespace galop::random::vectors {",
        "",
        "// clang-format off",
        "struct Hash { const char* name; std::uint64_t value; };",
        "inline constexpr Hash kHashes[] = {",
    ]
    for source in (stream_hashes(), generator_hashes(), legacy_hashes(), api_hashes()):
        lines += [f'    {{"{name}", 0x{as_hash(result):016x}u}},' for name, result in source]
    lines += ["};", "", "struct Samples { const char* name; double value[8]; };"]
    lines += ["inline constexpr Samples kSamples[] = {"]
    for name, values in sample_rows():
        numbers = [float(v).hex() for v in sampled(values)]
        lines += [f'    {{"{name}",', f"     {{{', '.join(numbers[:4])},", f"      {', '.join(numbers[4:])}}}}},"]
    lines += ["};", "// clang-format on", "", "}  // namespace galop::random::vectors", ""]
    out.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
