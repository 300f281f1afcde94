#!/usr/bin/python3
"""Times the Python package: updates and draws of the memory, and steps with payloads.

    make python && pip install build/python/*.whl
    /usr/bin/python3 bench/python/replay.py [MAMMOTH]

A step draws 10 samples and adds 10 new ones; payloads are 512 floats; capacity 1000; classes have a long tail. With the folder of a
checkout of Mammoth its buffers make the same steps, single-label, since that is all that its balanced ones take. The smallest of
several rounds is printed, in microseconds of CPU time.
"""
import sys
import tempfile
import time
import timeit

import numpy as np

import ocdm

CAPACITY, SIZE, WIDTH, CLASSES = 1000, 10, 512, 40


def best(step, count=2000, rounds=7):
    step(), step()
    return min(timeit.repeat(step, timer=time.process_time, number=count, repeat=rounds)) / count * 1e6


def stream(seed=0, batches=500):
    """Batches of (offsets, labels, multi-hot, lists) with 1 to 4 labels a sample, the classes by a long tail."""
    chance = np.random.default_rng(seed)
    made = []
    for _ in range(batches):
        sets = [sorted({int(CLASSES * chance.random() ** 2.5) for _ in range(chance.integers(1, 5))}) for _ in range(SIZE)]
        hot = np.zeros((SIZE, CLASSES), np.float32)
        for row, labels in zip(hot, sets):
            row[labels] = 1
        made.append((np.cumsum([0] + [len(s) for s in sets]), np.array([c for s in sets for c in s]), hot, sets))
    return made


def batch_after_batch(made):
    while True:
        yield from made


def memory_times(made):
    for name, form in (("arrays (offsets, labels)", lambda b: (b[0], b[1])), ("multi-hot [n, C]", lambda b: b[2]),
                       ("lists", lambda b: b[3])):
        memory, batches, ids = ocdm.Memory(CAPACITY), batch_after_batch(made), np.arange(SIZE)

        def update():
            nonlocal ids
            ids += SIZE
            memory.update(ids, form(next(batches)))

        for _ in range(2000):
            update()
        yield f"Memory.update of {SIZE}, {name}", best(update)
    yield f"Memory.draw({SIZE})", best(lambda: memory.draw(SIZE))
    yield f"Memory.draw({SIZE}, 'balanced')", best(lambda: memory.draw(SIZE, "balanced"))


def replay_times(made, kind, batch, **options):
    replay, batches = ocdm.Replay(CAPACITY, **options), batch_after_batch(made)

    def step():
        if len(replay):
            replay.sample(SIZE)
        offsets, labels, _, _ = next(batches)
        replay.add(batch, (offsets, labels))

    for _ in range(300):
        step()
    yield f"Replay, sample and add {SIZE} {kind}", best(step)
    slots = np.arange(SIZE)
    yield f"Replay, write {SIZE} {kind} anew", best(lambda: replay.__setitem__(slots, batch))


def mammoth_times(folder, made):
    import torch

    sys.path.insert(0, folder)
    try:
        from utils.buffer import Buffer
    except ImportError as error:
        sys.exit(f"error: {folder} is no checkout of Mammoth, or a package that it needs is missing: {error}")
    import ocdm.mammoth

    examples = torch.rand(SIZE, WIDTH)
    for strategy in ("reservoir", "balancoir", "labrs"):
        buffer, batches = Buffer(CAPACITY, sample_selection_strategy=strategy), batch_after_batch(made)

        def step():
            if not buffer.is_empty():
                buffer.get_data(SIZE)
            buffer.add_data(examples, labels=torch.as_tensor(next(batches)[2].argmax(1)), sample_selection_scores=torch.rand(SIZE))

        for _ in range(300):
            step()
        yield f"Mammoth's {strategy}, get and add {SIZE}", best(step, count=200)
    buffer, batches = ocdm.mammoth.Buffer(CAPACITY), batch_after_batch(made)

    def ours():
        if not buffer.is_empty():
            buffer.get_data(SIZE)
        buffer.add_data(examples, labels=torch.as_tensor(next(batches)[2]))

    for _ in range(300):
        ours()
    yield f"ocdm.mammoth.Buffer, get and add {SIZE}, multi-label", best(ours, count=200)


def main():
    made = stream()
    features = np.random.default_rng(0).random((SIZE, WIDTH), np.float32)
    folder = tempfile.TemporaryDirectory(prefix="ocdm-bench-")
    rows = [memory_times(made), replay_times(made, "arrays", features), replay_times(made, "arrays, u8", features, store="u8"),
            replay_times(made, "arrays, store_dir", features, store_dir=folder.name)]
    try:
        import torch
        rows.append(replay_times(made, "tensors", torch.from_numpy(features)))
    except ImportError:
        print("PyTorch is not installed: tensors are not timed", file=sys.stderr)
    if len(sys.argv) > 1:
        rows.append(mammoth_times(sys.argv[1], made))
    for timed in rows:
        for name, microseconds in timed:
            print(f"{name:56} {microseconds:8.2f} us", flush=True)


if __name__ == "__main__":
    main()
