"""store_dir: the state in the folder is that after an update, whenever the process was killed."""
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import ocdm
import tap


def offer(replay, step):
    """The first half of a step, whose content follows from its number: a draw and a batch."""
    chance = random.Random(step)
    if len(replay):
        replay.sample(3)
    ids = np.arange(10 * step, 10 * step + 10)
    labels = [[["cat", "dog", "owl", f"new{step // 40}"][c] for c in sorted(chance.sample(range(4), chance.randint(1, 3)))] for _ in ids]
    replay.add({"x": np.repeat(ids[:, None], 24, 1).astype("f4"), "id": ids, "writes": np.zeros(10, "i4")}, labels, ids)


def rewrite(replay, step):
    """The second half: a part of some samples anew. Twice is as good as once, so that a run that goes on may begin with it."""
    slots = np.array(random.Random(-step).sample(range(len(replay)), 5))
    replay.update(slots, writes=np.full(5, step, "i4"), priority=np.arange(step, step + 5))


def state_of(replay):
    """A hash of all that a state has: memory, payloads by slot, priorities."""
    state = replay.state_dict()
    text = json.dumps({"memory": {key: value if isinstance(value, (str, list)) else np.asarray(value).tolist() for key, value in state["memory"].items()},
                       "leaves": [np.asarray(leaf["rows"]).tolist() for leaf in state["leaves"]],
                       "priority": None if state["priority"] is None else np.asarray(state["priority"]).tolist()}, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


OPTIONS = {"capacity": 60, "seed": 3}

VICTIM = """
import sys
sys.path[:0] = {path!r}
import test_disk, ocdm
replay = ocdm.Replay(store_dir={folder!r}, store={store!r}, **test_disk.OPTIONS)
step = replay.memory.arrived // 10
print("ready", flush=True)
if step:
    test_disk.rewrite(replay, step - 1)
while True:
    test_disk.offer(replay, step)
    test_disk.rewrite(replay, step)
    step += 1
    print(step, flush=True)
"""


class Disk(unittest.TestCase):
    def folder(self):
        return tempfile.mkdtemp(dir=".")

    def states(self, store, count):
        """The states after the last two steps of such a run in memory."""
        replay, found = ocdm.Replay(store=store, **OPTIONS), set()
        for step in range(count):
            for half in (offer, rewrite):
                half(replay, step)
                if step >= count - 2:
                    found.add(state_of(replay))
        return found

    def killed(self, store):
        folder, chance = self.folder(), random.Random(7)
        script = VICTIM.format(path=[path for path in sys.path if path], folder=folder, store=store)
        steps = 0
        for turn in range(4):
            victim = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
            self.assertEqual(victim.stdout.readline(), "ready\n")
            for _ in range(chance.randint(10, 40)):  # then it is somewhere in the next step
                victim.stdout.readline()
            victim.send_signal(signal.SIGKILL)
            victim.communicate()
            replay = ocdm.Replay(store_dir=folder, store=store, **OPTIONS)
            steps = replay.memory.arrived // 10
            self.assertIn(state_of(replay), self.states(store, steps), f"turn {turn}, {steps} steps")
            replay.close()
        self.assertGreaterEqual(steps, 40)

    def test_a_kill_at_any_point_of_a_change_leaves_the_state_before_or_after_it(self):
        """Points: before and after each copy of rows, each write of the log and of a whole state, each removal of a file. On the way: ranges that
        are learned and then known, which moves the payloads to files; samples that leave; another capacity; a new start."""
        import ocdm._disk
        import ocdm._payload
        before, ocdm._payload.LEARNING = ocdm._payload.LEARNING, 25
        self.addCleanup(setattr, ocdm._payload, "LEARNING", before)
        places = ((ocdm._payload.Rows, "put"), (os, "pwrite"), (ocdm._disk.Disk, "save"), (ocdm._disk.Disk, "exchange"), (os, "remove"),
                  (ocdm._disk.Disk, "attach"))
        changes = [lambda replay, step=step: offer(replay, step) for step in range(7)]
        changes[5:5] = [lambda replay: rewrite(replay, 4)]
        changes += [lambda replay: replay.forget(int(replay.memory.ids[3])), lambda replay: offer(replay, 8), lambda replay: replay.resize(20),
                    lambda replay: offer(replay, 9), lambda replay: rewrite(replay, 9), lambda replay: replay.clear()]
        changes += [lambda replay, step=step: offer(replay, step) for step in range(4)]
        plain, points = ocdm.Replay(store="u8", **OPTIONS), 0
        expected = [state_of(plain)]
        for change in changes:
            change(plain)
            expected.append(state_of(plain))
        for owner, name in places:
            for late in (False, True):
                for hit in range(1, 99):
                    folder = self.folder()
                    child = os.fork()
                    if child == 0:
                        self.die_at(owner, name, late, hit, folder, changes)
                    if os.waitpid(child, 0)[1] == 0:
                        break  # fewer hits than that
                    points += 1
                    with open(os.path.join(folder, "progress")) as file:
                        done = len(file.read())
                    self.assertIn(self.state_in(folder), expected[done:done + 2], (name, late, hit))
        self.assertGreater(points, 100)

    def state_in(self, folder):
        for capacity in (60, 20):
            try:
                replay = ocdm.Replay(store_dir=folder, store="u8", **{**OPTIONS, "capacity": capacity})
            except ValueError:
                continue
            state = state_of(replay)
            replay.close()
            return state
        self.fail("the folder cannot be opened")

    def die_at(self, owner, name, late, hit, folder, changes):
        """In a child: makes the changes, and is killed before or after a call."""
        replay, count, real = ocdm.Replay(store_dir=folder, store="u8", **OPTIONS), 0, getattr(owner, name)

        def call(*arguments, **options):
            nonlocal count
            count += 1
            if count == hit and not late:
                os.kill(os.getpid(), signal.SIGKILL)
            result = real(*arguments, **options)
            if count == hit:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        with open(os.path.join(folder, "progress"), "w") as progress:
            setattr(owner, name, call)
            for change in changes:
                change(replay)
                progress.write(".")
                progress.flush()
        os._exit(0)

    def test_a_kill_leaves_the_state_of_an_update(self):
        self.killed(None)

    def test_a_kill_leaves_the_state_of_an_update_while_ranges_are_learned_too(self):
        self.killed("u8")

    def test_a_record_that_was_not_written_whole_did_not_happen(self):
        folder = self.folder()
        replay = ocdm.Replay(store_dir=folder, **OPTIONS)
        for step in range(12):
            offer(replay, step)
            replay.add({"x": np.zeros((0, 24), "f4"), "id": np.zeros(0, "i8"), "writes": np.zeros(0, "i4")}, [], [])
        before = state_of(replay)
        [log] = [name for name in os.listdir(folder) if name.startswith("log.")]
        size = os.path.getsize(os.path.join(folder, log))
        offer(replay, 12)
        after = state_of(replay)
        replay.close()
        with open(os.path.join(folder, log), "rb") as file:
            whole = file.read()
        for cut in (size, size + 1, size + 7, size + 20, len(whole) - 1):
            with open(os.path.join(folder, log), "wb") as file:
                file.write(whole[:cut])
            self.same_as_in(folder, before, keep=(log, whole))
        damaged = bytearray(whole)
        damaged[-3] ^= 1
        with open(os.path.join(folder, log), "wb") as file:
            file.write(damaged)
        self.same_as_in(folder, before, keep=(log, whole))
        with open(os.path.join(folder, log), "wb") as file:
            file.write(whole)
        self.same_as_in(folder, after)

    def same_as_in(self, folder, expected, keep=None):
        """Opens a copy of the folder, since opening writes a new state."""
        import shutil
        copy = self.folder()
        shutil.copytree(folder, copy, dirs_exist_ok=True)
        replay = ocdm.Replay(store_dir=copy, **OPTIONS)
        self.assertEqual(state_of(replay), expected)
        replay.close()

    def test_it_is_a_replay_like_any_other(self):
        plain, stored = ocdm.Replay(**OPTIONS), ocdm.Replay(store_dir=self.folder(), **OPTIONS)
        for step in range(60):
            for replay in (plain, stored):
                offer(replay, step)
                rewrite(replay, step)
                if step == 10:
                    replay.add({"x": np.zeros((0, 24), "f4"), "id": np.zeros(0, "i8"), "writes": np.zeros(0, "i4")}, [], [])
                if step == 15:
                    replay.memory.set_weight("owl", 3)
                if step in (25, 26, 40):
                    replay.forget(int(replay.memory.ids[step % 7]))
                if step == 30:
                    replay.resize(25)
                if step == 50:
                    replay.resize(90)
            self.assertEqual(state_of(plain), state_of(stored), step)
            self.assertEqual(plain.sample(7)["id"].tolist(), stored.sample(7)["id"].tolist())
        folder = stored._disk.folder
        stored.close()
        again = ocdm.Replay(store_dir=folder, **{**OPTIONS, "capacity": 90})
        plain.sample(0), again.sample(0)
        for step in range(60, 80):
            offer(plain, step), offer(again, step)
        self.assertEqual(plain[:]["id"].tolist(), again[:]["id"].tolist())
        self.assertEqual(plain[:]["writes"].tolist(), again[:]["writes"].tolist())
        again.close()

    def test_the_log_does_not_grow_for_ever(self):
        import ocdm._disk
        folder, before = self.folder(), ocdm._disk.LOG_SIZE
        ocdm._disk.LOG_SIZE = 5000
        try:
            replay = ocdm.Replay(store_dir=folder, **OPTIONS)
            for step in range(300):
                offer(replay, step)
                self.assertLess(sum(os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder)), 150_000)
        finally:
            ocdm._disk.LOG_SIZE = before
        expected = state_of(replay)
        replay.close()
        self.same_as_in(folder, expected)

    def test_other_options_and_a_second_process_are_refused(self):
        folder = self.folder()
        replay = ocdm.Replay(store_dir=folder, **OPTIONS)
        offer(replay, 0)
        with self.assertRaisesRegex(OSError, "in use"):
            ocdm.Replay(store_dir=folder, **OPTIONS)
        child = os.fork()
        if child == 0:
            try:
                offer(replay, 1)
            except RuntimeError:
                os._exit(0)
            os._exit(1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        offer(replay, 1)
        replay.close()
        for other in ({"capacity": 61}, {"seed": 4}, {"rho": 0.5}, {"store": "u8"}, {"policy": "rs"}):
            with self.assertRaisesRegex(ValueError, "has a replay"):
                ocdm.Replay(store_dir=folder, **{**OPTIONS, **other})
        again = ocdm.Replay(store_dir=folder, **OPTIONS)
        self.assertEqual(again.memory.arrived, 20)
        with self.assertRaises(TypeError):
            import copy
            copy.deepcopy(again)
        again.close()
        with self.assertRaises(RuntimeError):
            offer(again, 2)

    def test_capacity_in_bytes_and_a_new_start(self):
        folder = self.folder()
        options = dict(capacity_bytes=50 * (24 * 2 + 8 + 4), store="f16", seed=1)
        replay, plain = ocdm.Replay(store_dir=folder, **options), ocdm.Replay(**options)
        for step in range(9):
            offer(replay, step), offer(plain, step)
        self.assertEqual((replay.memory.capacity, state_of(replay)), (50, state_of(plain)))
        del replay  # closes the folder
        replay = ocdm.Replay(store_dir=folder, **options)
        self.assertEqual(state_of(replay), state_of(plain))
        replay.flush()
        for each in (replay, plain):
            each.clear()
        for step in range(3):
            offer(replay, step), offer(plain, step)
        self.assertEqual(state_of(replay), state_of(plain))
        del replay
        replay = ocdm.Replay(store_dir=folder, **options)
        self.assertEqual(state_of(replay), state_of(plain))
        replay.clear()
        replay.add(np.arange(4.0), [0, 1, 2, 3])  # another kind of batch
        del replay
        self.assertEqual(ocdm.Replay(store_dir=folder, **options)[:].tolist(), [0, 1, 2, 3])

    def test_what_files_cannot_keep_is_refused_before_anything_changes(self):
        replay = ocdm.Replay(3, store_dir=self.folder())
        for batch in (["a", "b"], (np.zeros(2), ["a", "b"]), np.array([{}, []], object), np.zeros((2, 0))):
            with self.assertRaises(ValueError):
                replay.add(batch, [0, 1])
        self.assertEqual(replay.memory.arrived, 0)
        with self.assertRaises(ValueError):
            ocdm.Replay(3, store_dir=self.folder(), policy=type("Own", (), {"remove": lambda self, memory: 0})())
        replay.add(np.zeros(2), [0, 1])
        self.assertEqual(len(replay), 2)
        replay.close()

    def test_a_full_disk_is_an_error_and_the_next_call_goes_on(self):
        replay = ocdm.Replay(store_dir=self.folder(), **OPTIONS)
        plain = ocdm.Replay(**OPTIONS)
        for step in range(8):
            offer(replay, step), offer(plain, step)
        real, os.pwrite = os.pwrite, lambda *arguments: 3
        try:
            with self.assertRaises(OSError):
                offer(replay, 8)
            with self.assertRaises(OSError):
                replay.sample(3)
        finally:
            os.pwrite = real
        offer(plain, 8)
        self.assertEqual(state_of(replay), state_of(plain))
        folder = replay._disk.folder
        replay.close()
        self.same_as_in(folder, state_of(plain))


if __name__ == "__main__":
    tap.main()
