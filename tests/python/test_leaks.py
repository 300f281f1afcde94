"""Nothing is leaked: memory in use stays flat over many calls, of those that fail too, and arguments keep their references."""
import gc
import os
import subprocess
import sys
import unittest

import tap

ENVIRONMENT = {key: value for key, value in os.environ.items() if key not in ("LD_PRELOAD", "PYTHONMALLOC")}
ENVIRONMENT["PYTHONPATH"] = os.environ["OCDM_RELEASE"]

# Each is a loop body; `i` counts. Run once to warm up and once to measure.
LOOPS = {
    "updates_from_arrays": "change = memory.update(ids + 10 * i, hot); change.slots; change.left_ids",
    "updates_from_lists_of_strings": "named.update(range(10 * i, 10 * i + 10), words)",
    "updates_that_are_refused": """
try: memory.update(ids + 10 * i, bad)
except ValueError: pass
try: named.update(range(10 * i, 10 * i + 3), [['new'], ['cat'], [None]])
except ValueError: pass""",
    "draws_and_questions": "memory.draw(10); memory.labels(3); memory.counts; memory.ids; memory.find(3); memory.distance()",
    "policies_in_python": "own.update([3 * i, 3 * i + 1], [[1], [2]])",
    "policies_that_raise": """
try: own.update([3 * i, 3 * i + 1], [[99], [2]])
except ZeroDivisionError: pass""",
    "copies_and_states": "if i % 20 == 0: other = pickle.loads(pickle.dumps(named)); other.load_state_dict(other.state_dict())",
    "weighted_draws": "memory.draw(5, 'balanced'); memory.draw(5, weights=ones, replace=True, exclude=[3])",
    "minimums_and_known_labels": "least.update(ids + 10 * i, hot, mask); least.set_minimum(i % 12, 1)",
    "merges_and_pictures": "if i % 50 == 0: ocdm.Memory.merge([named, shard]); named.plot()",
    "replays": """
replay.add((hot, [i] * 10), hot, priority=ones[:10]); replay.update([1, 2], priority=[i, 1]); replay[3] = replay[4]
replay.sample(5, 'loss')
try: replay.update([1], x=1)
except ValueError: pass""",
    "replays_in_files": "if i % 20 == 0: disk.add(hot, hot); disk.sample(5); disk[[0, 1]] = hot[:2]",
    "memories": "if i % 20 == 0: ocdm.Memory(50, Own()).update(ids, hot)",
}

SETUP = """
import gc, pickle, sys, tempfile
import numpy as np
import ocdm

class Own:
    def admit(self, memory, id, labels):
        return 1 / (99 not in labels)
    def replace(self, memory, id, labels):
        return memory.random(len(memory))

def resident():
    gc.collect()
    return int(open('/proc/self/statm').read().split()[1]) * 4096

ids, hot = np.arange(10), np.eye(10, 12, dtype=np.float32)
bad = hot.copy()
bad[9, 9] = np.nan
words = [['cat', 'dog'], ['dog'], 'bird'] + [[]] * 7
memory, named, own = ocdm.Memory(200), ocdm.Memory(200), ocdm.Memory(20, Own())
named.update([-1], [['cat']])
memory.update(range(-300, 0), [[i % 7] for i in range(300)])
ones, mask, replay, least = np.ones(200), hot > 0, ocdm.Replay(50), ocdm.Memory(50, min=2)
shard = ocdm.Memory(200, shard=1)
shard.update([-2], [['bird']])
disk = ocdm.Replay(50, store_dir=tempfile.mkdtemp(dir="."))
def loop(first, count):
    global other
    for i in range(first, first + count):
        exec(BODY)
loop(1000, WARM)
before = resident()
loop(1000 + WARM, COUNT)
print(resident() - before)
"""


class Leaks(unittest.TestCase):
    def grown(self, body, count):
        code = f"BODY, WARM, COUNT = compile({body!r}, 'loop', 'exec'), {count // 2}, {count}\n{SETUP}"
        done = subprocess.run(["/usr/bin/python3", "-X", "dev", "-W", "ignore", "-c", code], env=ENVIRONMENT, text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return int(done.stdout)

    def test_the_measure_sees_a_leak_of_one_object_per_call(self):
        self.assertGreater(self.grown("kept = globals().setdefault('kept', []); kept.append(bytes(64))", 10000), 500_000)

    def test_arguments_keep_their_references(self):
        import numpy as np

        import ocdm
        memory = ocdm.Memory(20)
        arguments = [np.arange(3), np.eye(3), (np.arange(4), np.arange(3)), [["a"]], [[10**6]]]
        before = [sys.getrefcount(argument) for argument in arguments]
        for i in range(50):
            for labels in arguments[1:]:
                try:
                    memory.update(arguments[0], labels)
                except (ValueError, KeyError):
                    pass
        del labels
        gc.collect()
        self.assertEqual([sys.getrefcount(argument) for argument in arguments], before)

    def test_a_policy_that_knows_its_memory_is_collected(self):
        import weakref

        import ocdm

        class Own:
            def remove(self, memory):
                return 0

        policy = Own()
        policy.memory = ocdm.Memory(2, policy)
        alive = weakref.ref(policy)
        del policy
        gc.collect()
        self.assertIsNone(alive())


def flat(body):
    return lambda self: self.assertLess(self.grown(body, 10000), 400_000)


for _name, _body in LOOPS.items():
    setattr(Leaks, f"test_{_name}_leak_nothing", flat(_body.strip()))

if __name__ == "__main__":
    tap.main()
