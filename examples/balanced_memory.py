# %% [markdown]
# # A balanced memory against a reservoir
#
# 20,000 samples pass, with one to three of 20 labels; the first label is 60 times as frequent as the last. Both memories see the same
# stream once and keep 500 samples. Needs NumPy and ocdm; runs in seconds, as a script or cell by cell. It writes balanced_memory.html.

# %%
import numpy as np

import ocdm

CLASSES, SAMPLES, KEPT = 20, 20_000, 500
random = np.random.default_rng(0)
frequency = 60.0 ** -np.linspace(0, 1, CLASSES)
frequency /= frequency.sum()
labels = [sorted(random.choice(CLASSES, random.integers(1, 4), replace=False, p=frequency).tolist()) for _ in range(SAMPLES)]

# %% [markdown]
# The memory keeps ids and labels. Whoever has tensors keeps them in an array of 500 slots, or uses `ocdm.Replay`, which does.

# %%
memories = {policy: ocdm.Memory(capacity=KEPT, policy=policy, seed=1) for policy in ("ocdm", "rs")}
for start in range(0, SAMPLES, 10):
    for memory in memories.values():
        memory.update(range(start, start + 10), labels[start:start + 10])

for policy, memory in memories.items():
    kept = memory.counts["kept"]
    print(f"{policy:5} distance to equal shares {memory.distance():.4f}, fewest samples of a class {kept.min()}, most {kept.max()}")

# %% [markdown]
# The picture: samples in memory per class. In a notebook `memories["ocdm"].plot()` shows itself.

# %%
with open("balanced_memory.html", "w", encoding="utf-8") as page:
    page.write("<!DOCTYPE html><title>A balanced memory against a reservoir</title>" + "".join(memory.plot() for memory in memories.values()))
