"""The online experiment around a model of PyTorch: a linear layer on the features of a stream, trained with Adam.

    ocdm stream build --recipe scenes --as features -o scenes.safetensors
    python3 own_model.py scenes.safetensors runs/torch memory=500 seed=1      # interrupt it, and call it again: it goes on
    ocdm run scenes.safetensors -o runs/linear --memory 500 --seed 1 --lr 0.006
    ocdm report runs -o report.html

It learns what `ocdm run --model linear` learns, from the same steps; only the initial weights are others.
"""
import io
import sys
from typing import Any

import torch

import ocdm


def main(path: str, folder: str, **settings: Any) -> None:
    stream = ocdm.Stream(path)
    features = torch.tensor(stream.features, dtype=torch.float32)
    torch.manual_seed(int(settings.get("seed", 0)))
    model = torch.nn.Linear(features.shape[1], stream.class_count)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.006, eps=1e-4)
    loss_of = torch.nn.BCEWithLogitsLoss()

    with ocdm.Run(stream, folder, name="torch-linear", lr=0.006, **settings) as run:
        if run.saved is not None:
            states = torch.load(io.BytesIO(run.saved))
            model.load_state_dict(states[0])
            optimiser.load_state_dict(states[1])
        for step in run:
            optimiser.zero_grad()
            loss = loss_of(model(features[torch.from_numpy(step.samples)]), torch.from_numpy(step.targets))
            loss.backward()
            optimiser.step()
            step.done(loss.item())
            if step.evaluate:
                with torch.no_grad():
                    run.evaluate(model(features[torch.from_numpy(run.test_samples)]))
            if step.checkpoint:
                state = io.BytesIO()
                torch.save((model.state_dict(), optimiser.state_dict()), state)
                run.checkpoint(state.getvalue())


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:3], **dict(word.split("=", 1) for word in sys.argv[3:]))
