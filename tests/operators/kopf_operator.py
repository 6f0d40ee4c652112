"""The kopf operator of the proof: small, real, as slow, choosy or frail as its environment says, and broken where its
control port says so. See README.md.
"""

import asyncio
import logging
import os
import threading
import time

import aiohttp.web
import kopf

GROUP = os.environ["OPERATOR_GROUP"]
PLURALS = [kind.lower() + "s" for kind in os.environ["OPERATOR_KINDS"].split(",")]
CONTROL_PORT = int(os.environ["OPERATOR_CONTROL_PORT"])
DURATION = float(os.environ.get("OPERATOR_DURATION", "0"))
TIMER = float(os.environ.get("OPERATOR_TIMER", "0"))
CRASH_AFTER = float(os.environ.get("OPERATOR_CRASH_AFTER", "0"))
LABELS = dict([os.environ["OPERATOR_LABELS"].split("=", 1)]) if "OPERATOR_LABELS" in os.environ else None

# What is broken in this process; nothing mends it but its end. Plurals whose every handler blocks, and names of objects
# whose handler does.
BLOCKED = set()
KEYS = set()


@kopf.on.startup()
async def start(settings, **_):
    settings.posting.enabled = False
    # A line for every probe would leave no room for what matters.
    logging.getLogger("aiohttp.access").setLevel(logging.WARNING)
    if CRASH_AFTER:
        asyncio.get_running_loop().call_later(CRASH_AFTER, os._exit, 1)
    await control()


async def control():
    # In the loop of the operator itself: whatever is broken, the loop turns.
    application = aiohttp.web.Application()
    application.router.add_post("/workers-blocked", workers_blocked)
    application.router.add_post("/key-blocked", key_blocked)
    application.router.add_post("/watch-dead", watch_dead)
    runner = aiohttp.web.AppRunner(application)
    await runner.setup()
    await aiohttp.web.TCPSite(runner, "127.0.0.1", CONTROL_PORT).start()


async def workers_blocked(request):
    BLOCKED.update([request.query["plural"]] if "plural" in request.query else PLURALS)
    return aiohttp.web.Response()


async def key_blocked(request):
    KEYS.add(request.query["name"])
    return aiohttp.web.Response()


async def watch_dead(request):
    # kopf starts the task once and never looks at it again.
    start = f"watcher for {request.query['plural']}."
    watchers = [task for task in asyncio.all_tasks() if task.get_name().startswith(start)]
    for watcher in watchers:
        watcher.cancel()
    return aiohttp.web.Response(status=200 if watchers else 404)


async def handle(resource, name, **_):
    if resource.plural in BLOCKED or name in KEYS:
        await asyncio.Event().wait()
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
