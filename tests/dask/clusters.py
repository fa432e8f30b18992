"""Local clusters, and a plugin that kills their workers during tasks."""

import os
import signal
import time
from contextlib import contextmanager

from distributed import LocalCluster
from distributed.core import Status
from distributed.diagnostics.plugin import SchedulerPlugin
from distributed.utils import key_split

import dask

# A LocalCluster gives up a lost worker after a timeout of 15 seconds by default, even if a worker
# that died twice is being restarted.
dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"})


def local(workers, **options):
    """Return a cluster with the given number of single-threaded processes."""
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": 0} | options
    return LocalCluster(n_workers=workers, **options)


def within(workers):
    """Return a cluster whose workers are threads of this process, and start immediately."""
    return local(workers, processes=False)


class Killer(SchedulerPlugin):
    """Plugin that kills the worker that starts a task of some step, a given number of times."""

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
            # A worker that dies before its nanny has seen it start is not restarted.
            if nanny.worker_address == address and nanny.status == Status.running:
                self.left -= 1
                self.killed.append(key)
                os.kill(nanny.pid, signal.SIGKILL)
                return


@contextmanager
def deaths(cluster, step, times=1, skip=0):
    """Return a context in which workers die in a step; on exit, all have been restarted."""
    killer, workers = Killer(cluster, step, times, skip), len(cluster.workers)
    cluster.scheduler.add_plugin(killer)
    try:
        yield killer
    finally:
        cluster.scheduler.remove_plugin(name="killer")
        settled(cluster, workers)


def settled(cluster, workers, patience=60.0):
    """Wait until all workers are running and their nannies know it."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        running = [nanny.status == Status.running for nanny in cluster.workers.values()]
        if all(running) and len(cluster.scheduler.workers) >= workers:
            return
        time.sleep(0.05)


def leftovers(cluster, patience=10.0):
    """Return the keys that the scheduler still stores after a time in which to release them."""
    end = time.monotonic() + patience
    while cluster.scheduler.tasks and time.monotonic() < end:
        time.sleep(0.05)
    return list(cluster.scheduler.tasks)
