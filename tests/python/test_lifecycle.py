"""Memory, threads, forks and Ctrl-C."""

import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from conftest import blobs, tagged

from m4n import MaxMinClassifier, MaxMinSequenceLabeler

# Far more work than any test waits for.
ENDLESS = {"lam": 1e-12, "tol": 1e-15, "max_iter": 10**9}


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def growth(action, warm_up, times):
    for _ in range(warm_up):
        action()
    gc.collect()
    before = resident_bytes()
    for _ in range(times):
        action()
    gc.collect()
    return resident_bytes() - before


def test_memory_stays_over_a_thousand_fits():
    X, y = blobs(n=100, d=10)
    words, labels = tagged(5)

    def fit():
        estimator = MaxMinClassifier(surrogate="crf", tol=0.1).fit(X, y)
        estimator.predict_proba(np.asfortranarray(X))
        MaxMinClassifier.from_bytes(estimator.to_bytes())

    def label():
        MaxMinSequenceLabeler(tol=0.5).fit(words, labels).predict(words)

    # A fit alone handles 8 kB of features; a leak of one such array per fit would be 8 MB.
    assert growth(fit, 100, 1000) < 4e6
    assert growth(label, 20, 100) < 4e6


def interrupted_fit(X, y):
    """Seconds from Ctrl-C to KeyboardInterrupt."""
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        MaxMinClassifier(surrogate="m3n", **ENDLESS).fit(X, y)
    timer.join()
    return time.monotonic() - started - 0.2


def test_interrupts_leave_no_memory_behind():
    X, y = blobs(n=2000, d=250, spread=8)  # 4 MB
    for _ in range(3):
        interrupted_fit(X, y)
    gc.collect()
    before = resident_bytes()
    for _ in range(10):
        assert interrupted_fit(X, y) < 1
    gc.collect()
    assert resident_bytes() - before < 8e6
    assert MaxMinClassifier(max_iter=5, tol=0.9).fit(X, y).predict(X).shape == (2000,)


SCRIPT = """
import numpy as np
import m4n
from conftest import blobs, tagged

X, y = blobs(n=2000, d=50, spread=8)
endless = dict(lam=1e-12, tol=1e-15, max_iter=10**9)
search = dict(lams=[1e-12], tol=1e-15, max_iter=10**9, n_jobs=2, cv=3, extend=False)
try:
    print("ready", flush=True)
    {}
    print("finished")
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize(
    "work",
    [
        "m4n.MaxMinClassifier(features='rbf', **endless).fit(X, y)",
        "m4n.MaxMinClassifierCV(**search).fit(X, y)",
        "m4n.MaxMinSequenceLabeler(**endless).fit(*tagged(3000))",
    ],
)
def test_ctrl_c(work):
    """Of a process of its own, as a user has it at the terminal."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path, os.path.dirname(__file__)])}
    child = subprocess.Popen([sys.executable, "-c", SCRIPT.format(work)], stdout=subprocess.PIPE, text=True,
                             env=environment)  # fmt: skip
    assert child.stdout.readline() == "ready\n"
    time.sleep(1.5)
    sent = time.monotonic()
    child.send_signal(signal.SIGINT)
    assert child.communicate(timeout=20)[0] == "interrupted\n"
    assert time.monotonic() - sent < 5  # a second on an idle machine; this one may be busy


def test_fits_in_a_pool_of_threads():
    X, y = blobs(n=300)
    lams = np.geomspace(1, 1e-4, 16)
    alone = [MaxMinClassifier(lam=lam).fit(X, y).to_bytes() for lam in lams]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda lam: MaxMinClassifier(lam=lam, n_jobs=2).fit(X, y).to_bytes(), lams))
    assert together == alone
    shared = MaxMinClassifier().fit(X, y)
    with ThreadPoolExecutor(8) as pool:
        assert len({tuple(found) for found in pool.map(lambda _: shared.predict(X).tolist(), range(32))}) == 1


def test_other_threads_run_during_a_fit():
    X, y = blobs(n=2000, d=50, spread=8)
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.wait(0.01):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        interrupted_fit(X, y)
    finally:
        stop.set()
        thread.join()
    assert len(ticks) >= 3


def fit_in_child(queue, X, y):
    queue.put(MaxMinClassifier(n_jobs=2).fit(X, y).to_bytes())


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_fork():
    X, y = blobs(n=600)
    before = MaxMinClassifier(n_jobs=2).fit(X, y).to_bytes()  # threads have run in this process
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    children = [context.Process(target=fit_in_child, args=(queue, X, y)) for _ in range(3)]
    for child in children:
        child.start()
    assert [queue.get(timeout=60) for _ in children] == [before] * 3
    for child in children:
        child.join()


def test_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = blobs()
    MaxMinClassifier().fit(X, y).predict(X)
    assert list(tmp_path.iterdir()) == []


def test_a_fit_in_a_daemon_thread_does_not_end_the_program():
    program = """
import threading, numpy as np
from m4n import MaxMinClassifier
X = np.random.default_rng(0).normal(size=(4000, 60))
y = np.arange(4000) % 7
fit = lambda: MaxMinClassifier(features="rbf", tol=1e-12, max_iter=100000).fit(X, y)
threading.Thread(target=fit, daemon=True).start()
threading.Event().wait(0.5)
"""
    assert subprocess.run([sys.executable, "-c", program], timeout=60).returncode == 0
