#!/usr/bin/python3
"""Models for tests of the panels: make-models.py many OUT, or large OUT, or pair CANDIDATE REFERENCE (GGUF)."""
import array
import random
import struct
import sys


def text(value):
    raw = value.encode()
    return struct.pack("<Q", len(raw)) + raw


def write(path, tensors):
    """tensors: name, shape outermost first, values as bytes (F32) or None for zeros, which take no room on the disk."""
    with open(path, "wb") as out:
        head = bytearray(b"GGUF" + struct.pack("<IQQ", 3, len(tensors), 1))
        head += text("general.architecture") + struct.pack("<I", 8) + text("llama")
        offset = 0
        for name, shape, data in tensors:
            head += text(name) + struct.pack("<I", len(shape))
            head += b"".join(struct.pack("<Q", n) for n in reversed(shape)) + struct.pack("<IQ", 0, offset)
            size = 4
            for n in shape:
                size *= n
            offset += (size + 31) // 32 * 32
        out.write(head + bytes(-len(head) % 32))
        for name, shape, data in tensors:
            if data is not None:
                out.write(data + bytes(-len(data) % 32))
        out.truncate(max(out.tell(), len(head + bytes(-len(head) % 32)) + offset))


def noise(n, seed):
    make = random.Random(seed)
    return array.array("f", (make.gauss(0, 1) for _ in range(n))).tobytes()


kind = sys.argv[1]
if kind == "many":
    row = noise(32, 1)
    write(sys.argv[2], [(f"part.{i % 1000}.weight_{i}", [1 + i % 2, 16], row[: 64 * (1 + i % 2)]) for i in range(100_000)])
elif kind == "large":
    write(sys.argv[2], [(f"blk.{i}.ffn_up.weight", [65536, 8192], None) for i in range(8)])
elif kind == "pair":
    shared = [(f"blk.{i}.attn_q.weight", [64, 64], noise(4096, 10 + i)) for i in range(3)]
    only = lambda what, seed: [(f"{what}.{i}.weight", [3 + seed, 32 + 32 * seed], noise((3 + seed) * (32 + 32 * seed), 50 + seed))
                               for i in range(2)]
    write(sys.argv[2], shared + only("candidate_adapter", 1))
    write(sys.argv[3], shared + only("reference_adapter", 3))
