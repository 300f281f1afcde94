"""
Damages states of Memory and Replay at random, for OCDM_FUZZ_SECONDS seconds (6): `load_state_dict` raises ValueError and changes nothing,
or gives an object that works. tests/python/run builds the surroundings: `tests/python/run build/test fuzz_states`.

Case n is a function of n alone, and OCDM_FUZZ_CASE=n tries that one. The number of the case at work is in the file OCDM_FUZZ_AT, for a
process that a sanitizer ends. TAP on stdout.
"""
import copy
import os
import pickle
import random
import sys
import time
import traceback

import numpy as np

import ocdm
import test_memory
import test_replay

memory_tests, replay_tests = test_memory.States(), test_replay.States()
POLICIES = [name for name in ocdm.policies() if not name.startswith("gss")]  # those need gradients


def some_memory(chance):
    sets = test_memory.label_sets(chance.choice([0, 5, 40, 120]), seed=chance.randrange(10), classes=chance.choice([3, 20]))
    sets = [labels or [0] for labels in sets]
    policy = chance.choice(POLICIES)
    if policy == "cbrs":
        sets = [labels[:1] for labels in sets]
    if chance.random() < 0.5:
        sets = [[f"c{label}" for label in labels] for labels in sets]
    return test_memory.filled(sets, capacity=chance.choice([1, 7, 30]), policy=policy, rho=chance.choice([0, 0, 0.5, 1]),
                              seed=chance.randrange(4), tie=chance.choice(["key", "uniform"]))


def works(memory):
    """What is loaded can be saved, loaded, asked and updated; two copies decide alike."""
    other = ocdm.Memory(memory.capacity)
    other.load_state_dict(memory.state_dict())
    assert other == memory
    for each in (memory, other):
        each.labels(), each.counts, each.distance(), each.arrivals, list(each.ids)
        named, used = each.names is not None, set(each.ids.tolist())
        free = [i for i in range(10**6, 10**6 + 200) if i not in used][:5]
        each.update(free, [["c1"]] * 5 if named else [[1]] * 5)
        if len(each):
            each.draw(3)
            each.forget(int(each.ids[0]))
    assert other == memory


def try_memory(chance):
    source = some_memory(chance)
    state, capacity = source.state_dict(), source.capacity
    for _ in range(chance.choice([1, 1, 2, 3])):
        if state:
            memory_tests.damage(state, chance)
    memory = test_memory.filled([[1], [2]], capacity=chance.choice([capacity, capacity, 20]))
    before = memory._save_bytes()
    try:
        memory.load_state_dict(state)
    except ValueError:
        assert memory._save_bytes() == before
        return False
    works(memory)
    return True


def try_replay(chance):
    source, _ = test_replay.filled(chance.choice([1, 20]), store=chance.choice([None, "u8"]))
    capacity = source.memory.capacity
    state = copy.deepcopy(source.state_dict())
    replay_tests.damage(state, chance)
    replay = ocdm.Replay(capacity)
    try:
        replay.load_state_dict(state)
    except ValueError:
        assert (len(replay), replay.memory.capacity) == (0, capacity)
        return False
    replay_tests.going_on(replay, pickle.loads(pickle.dumps(replay)))
    return True


def try_case(number):
    chance = random.Random(number)
    return (try_replay if number % 8 == 0 else try_memory)(chance)


def main():
    seconds, only = float(os.environ.get("OCDM_FUZZ_SECONDS", 6)), os.environ.get("OCDM_FUZZ_CASE")
    at = os.open(os.environ.get("OCDM_FUZZ_AT", os.devnull), os.O_WRONLY | os.O_CREAT, 0o644)
    print("1..1", flush=True)
    end, case, loaded = time.monotonic() + seconds, int(only or 0), 0
    while True:
        os.pwrite(at, b"%-20d" % case, 0)
        try:
            loaded += try_case(case)
        except Exception:  # of any kind: only ValueError is allowed, and try_case expects that
            print(f"not ok 1 - states\n# broken by OCDM_FUZZ_CASE={case}\n# " + traceback.format_exc().replace("\n", "\n# "))
            sys.exit(1)
        case += 1
        if only or time.monotonic() > end:
            break
    print(f"ok 1 - states\n# {case} cases, {loaded} of them loaded")


if __name__ == "__main__":
    main()
