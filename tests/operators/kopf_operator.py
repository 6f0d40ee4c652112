"""The operator of the proof: small, real, and as slow, choosy or frail as its environment says.

    OPERATOR_GROUP        the API group of its resources
    OPERATOR_PLURALS      their plurals, with commas between
    OPERATOR_DURATION     seconds that each handler takes (default 0)
    OPERATOR_LABELS       key=value that an object must carry to be handled (default: none)
    OPERATOR_TIMER        seconds between two writes of a timer on every object (default: no timer)
    OPERATOR_CRASH_AFTER  seconds after which the process ends by itself (default: never)
"""

import asyncio
import logging
import os
import threading
import time

import kopf

GROUP = os.environ["OPERATOR_GROUP"]
PLURALS = os.environ["OPERATOR_PLURALS"].split(",")
DURATION = float(os.environ.get("OPERATOR_DURATION", "0"))
TIMER = float(os.environ.get("OPERATOR_TIMER", "0"))
CRASH_AFTER = float(os.environ.get("OPERATOR_CRASH_AFTER", "0"))
LABELS = dict([os.environ["OPERATOR_LABELS"].split("=", 1)]) if "OPERATOR_LABELS" in os.environ else None


@kopf.on.startup()
async def start(settings, **_):
    settings.posting.enabled = False
    # A line for every probe would leave no room for what matters.
    logging.getLogger("aiohttp.access").setLevel(logging.WARNING)
    if CRASH_AFTER:
        asyncio.get_running_loop().call_later(CRASH_AFTER, os._exit, 1)


async def handle(**_):
    await asyncio.sleep(DURATION)


async def tick(patch, **_):
    # What fools a watchdog that takes any write for work done: timers need no watch.
    patch.status["tickedAt"] = time.time()


for plural in PLURALS:
    for decorator in (kopf.on.create, kopf.on.update, kopf.on.delete):
        decorator(GROUP, "v1", plural, labels=LABELS)(handle)
    if TIMER:
        kopf.timer(GROUP, "v1", plural, labels=LABELS, interval=TIMER)(tick)


def end_with(parent):
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


# A test that is killed cannot end its children.
threading.Thread(target=end_with, args=[os.getppid()], daemon=True).start()
