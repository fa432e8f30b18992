"""Clusters on this machine, and a plugin that kills their workers at work."""

import os
import signal
import time
from contextlib import contextmanager

from distributed import LocalCluster
from distributed.core import Status
from distributed.diagnostics.plugin import SchedulerPlugin
from distributed.utils import key_split

import dask

# A LocalCluster gives up a worker whose place is empty 15 seconds after it died; one that died a
# second time by then is on its way back.
dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"})


def local(workers, **options):
    """So many processes of one thread each."""
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": 0} | options
    return LocalCluster(n_workers=workers, **options)


def within(workers):
    """So many workers as threads of this process, which are there at once."""
    return local(workers, processes=False)


class Killer(SchedulerPlugin):
    """Kills the worker that has begun with a task of some step, a few times."""

    name = "killer"

    def __init__(self, cluster, step, times=1, skip=0):
        self.cluster, self.step, self.left, self.skip = cluster, step, times, skip
        self.killed = []

    def transition(self, key, start, finish, *args, **kwargs):
        if finish != "processing" or key_split(key) != self.step or not self.left:
            return
        if self.skip:
            self.skip -= 1
            return
        address = self.cluster.scheduler.tasks[key].processing_on.address
        for nanny in self.cluster.workers.values():
            # A worker that dies before its nanny has seen it start is never started again.
            if nanny.worker_address == address and nanny.status == Status.running:
                self.left -= 1
                self.killed.append(key)
                os.kill(nanny.pid, signal.SIGKILL)
                return


@contextmanager
def deaths(cluster, step, times=1, skip=0):
    """A context in which workers die of a step; afterwards all of them are there again."""
    killer, workers = Killer(cluster, step, times, skip), len(cluster.workers)
    cluster.scheduler.add_plugin(killer)
    try:
        yield killer
    finally:
        cluster.scheduler.remove_plugin(name="killer")
        settled(cluster, workers)


def settled(cluster, workers, patience=60.0):
    """Wait until so many workers are there, and their nannies know it."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        running = [nanny.status == Status.running for nanny in cluster.workers.values()]
        if all(running) and len(cluster.scheduler.workers) >= workers:
            return
        time.sleep(0.05)


def leftovers(cluster, patience=10.0):
    """Keys that the scheduler still knows, after it had some time to forget them."""
    end = time.monotonic() + patience
    while cluster.scheduler.tasks and time.monotonic() < end:
        time.sleep(0.05)
    return list(cluster.scheduler.tasks)
