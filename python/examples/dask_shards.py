"""Samples the parts of a stream in parallel with Dask, then merges: `ocdm merge` for whoever has Dask already.

    python3 dask_shards.py M FILE.jsonl...         # records with "id" and "labels"; prints the ids that are kept
"""
import json
import sys

from distributed import Client

import ocdm


def sample(shard: int, path: str, capacity: int) -> ocdm.Memory:
    memory = ocdm.Memory(capacity, shard=shard)
    with open(path) as file:
        for line in file:
            record = json.loads(line)
            memory.update([record["id"]], [record["labels"]])
    return memory


if __name__ == "__main__":
    capacity, paths = int(sys.argv[1]), sys.argv[2:]
    with Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:  # type: ignore[no-untyped-call]
        shards = client.gather(client.map(sample, range(len(paths)), paths, [capacity] * len(paths)))
    print(*sorted(ocdm.Memory.merge(shards).ids.tolist()), sep="\n")
