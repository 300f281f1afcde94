# %% [markdown]
# # A stratified split of multi-label data
#
# 3,000 samples with 30 labels of very different frequency go into 80 % for training and 20 % for tests. A random split leaves rare labels
# to chance; `ocdm.split` keeps the share of every label, and of pairs of labels. Needs NumPy and ocdm; runs in seconds. It writes
# stratified_split.svg.

# %%
import numpy as np

import ocdm

CLASSES, SAMPLES, SHARE = 30, 3_000, 0.2
random = np.random.default_rng(0)
frequency = 100.0 ** -np.linspace(0, 1, CLASSES)
frequency /= frequency.sum()
Y = np.zeros((SAMPLES, CLASSES), bool)
for row in Y:
    row[random.choice(CLASSES, random.integers(1, 5), replace=False, p=frequency)] = True

# %%
train, test = ocdm.split(Y, SHARE)
shuffled = random.permutation(SAMPLES)
parts = {"random": shuffled[:len(test)], "ocdm.split": test}
shares = {name: Y[part].sum(0) / Y.sum(0) for name, part in parts.items()}
for name, share in shares.items():
    print(f"{name:10} share of a label in the test part: {share.min():.1%} to {share.max():.1%}, wanted {SHARE:.0%}")


# %% [markdown]
# The picture: for each label, the most frequent first, its share in the test part; the line is the share that was asked for.

# %%
def dots(share, top, colour):
    return "".join(f'<circle cx="{70 + 20 * i}" cy="{top + 120 - 300 * value:.1f}" r="5" fill="{colour}"/>' for i, value in enumerate(share))


order = np.argsort(-Y.sum(0))
lines = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 700 330" font-family="sans-serif" font-size="14">',
         '<rect width="700" height="330" fill="white"/>']
for top, (name, share), colour in zip((20, 170), shares.items(), ("#b3541e", "#0a58ca")):
    lines += [f'<text x="60" y="{top + 4}">{name}</text>', f'<path d="M60 {top + 60}H670" stroke="#888"/>',
              f'<text x="54" y="{top + 65}" text-anchor="end">{SHARE:.0%}</text>', dots(share[order], top, colour)]
lines += ['<text x="60" y="320">labels, the most frequent first</text>', "</svg>"]
with open("stratified_split.svg", "w", encoding="utf-8") as picture:
    picture.write("\n".join(lines))
