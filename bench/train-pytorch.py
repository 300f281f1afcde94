#!/usr/bin/python3
"""Our training step against PyTorch's on the same work, side by side: bench/train-pytorch.py [OCDM] [--rounds N] [--case NAME...] [--show-tiles]

PyTorch (Debian's python3-torch, python3-torchvision; libopenblas0-pthread, without which its linear layers take four times as long) at
its best on CPUs: channels-last, autocast for bf16, two threads; its Adam, eps 1e-4, BCE with logits. The two take turns, round by round, each in a process of its own, so that what else the machine does hits both;
printed are the least and the median of each one's steps, and the ratio PyTorch / ocdm of the medians and of the least.

--show-tiles is for virtual machines that have AMX but hide the CPUID leaf of its tiles: both programs run with tile-leaf.c preloaded.
"""
import argparse, json, os, statistics, subprocess, sys, tempfile

CASES = {
    "linear": ["linear", "f32", "--features", "2048", "--classes", "80", "--steps", "1000"],
    "mlp": ["mlp", "f32", "--features", "120", "--classes", "101", "--steps", "1000"],
    "resnet18": ["resnet18", "f32", "--steps", "5"],
    "resnet101": ["resnet101", "f32", "--steps", "3"],
    "resnet18-bf16": ["resnet18", "bf16", "--steps", "5"],
    "resnet101-bf16": ["resnet101", "bf16", "--steps", "4"],
}

RIVAL = r"""
import ctypes, json, sys, time
try:  # Linux grants AMX's tiles on request only, and this PyTorch does not ask
    ctypes.CDLL(None).syscall(158, 0x1023, ctypes.c_long(18))
except OSError:
    pass
import torch, torchvision
name, precision, features, classes, steps = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5])
torch.manual_seed(0)
torch.set_num_threads(2)
if name == "linear":
    model, x = torch.nn.Linear(features, classes), torch.rand(20, features)
elif name == "mlp":
    model = torch.nn.Sequential(torch.nn.Linear(features, 512), torch.nn.ReLU(), torch.nn.Linear(512, classes))
    x = torch.rand(20, features)
else:
    model = getattr(torchvision.models, name)(num_classes=classes).to(memory_format=torch.channels_last)
    x = torch.rand(20, 3, 224, 224).to(memory_format=torch.channels_last)
target = (torch.rand(20, classes) < 3 / classes).float()
adam = torch.optim.Adam(model.parameters(), lr=1e-4, eps=1e-4)
times = []
for step in range(steps + 2):
    start = time.perf_counter()
    adam.zero_grad(set_to_none=True)
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision == "bf16"):
        logits = model(x)
    torch.nn.functional.binary_cross_entropy_with_logits(logits.float(), target).backward()
    adam.step()
    times.append(time.perf_counter() - start)
times = sorted(times[2:])
print(json.dumps({"ms_per_step": times[len(times) // 2] * 1e3, "least_ms": times[0] * 1e3}))
"""


def value(case, flag, default):
    return case[case.index(flag) + 1] if flag in case else default


def run(command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        return None
    return json.loads(result.stdout.strip().splitlines()[-1])


def show_tiles(folder):
    library = os.path.join(folder, "tile-leaf.so")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tile-leaf.c")
    subprocess.run(["cc", "-std=c11", "-O1", "-shared", "-fPIC", source, "-o", library], check=True)
    os.environ["LD_PRELOAD"] = library


def main():
    parser = argparse.ArgumentParser(description="time our training step against PyTorch's")
    parser.add_argument("ocdm", nargs="?", default="build/ocdm-bench")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--case", nargs="*", default=list(CASES), choices=list(CASES))
    parser.add_argument("--show-tiles", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if arguments.show_tiles:
            show_tiles(folder)
        compare(arguments)


def compare(arguments):
    print(f"{'case':16} {'ocdm ms':>10} {'least':>10} {'PyTorch ms':>11} {'least':>10} {'ratio':>6} {'of least':>8}  peak MiB")
    for name in arguments.case:
        case = CASES[name]
        ours, theirs = [], []
        for _ in range(arguments.rounds):
            ours.append(run([arguments.ocdm, "train", "--json", "--model", case[0], "--precision", case[1],
                             "--threads", "2", *case[2:]]))
            theirs.append(run([sys.executable, "-c", RIVAL, case[0], case[1], value(case, "--features", "0"),
                               value(case, "--classes", "80"), value(case, "--steps", "3")]))
        report(name, [r for r in ours if r], [r for r in theirs if r])


def report(name, ours, theirs):
    if not ours:
        print(f"{name:16} ocdm refuses: this CPU cannot")
        return
    mine, least = statistics.median(r["ms_per_step"] for r in ours), min(r["least_ms"] for r in ours)
    text = f"{name:16} {mine:10.3f} {least:10.3f} "
    if theirs:
        other, other_least = statistics.median(r["ms_per_step"] for r in theirs), min(r["least_ms"] for r in theirs)
        text += f"{other:11.3f} {other_least:10.3f} {other / mine:6.2f} {other_least / least:8.2f}"
    else:
        text += f"{'crashed':>11} {'':10} {'':6} {'':8}"
    print(text + f"  {max(r['peak_bytes'] for r in ours) / 2**20:8.0f}", flush=True)


main()
