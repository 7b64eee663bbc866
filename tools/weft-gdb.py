# SPDX-License-Identifier: MIT
"""weft-gdb.py - fibers in gdb, in a running program and in a core file.

    (gdb) source weft-gdb.py
    (gdb) info fibers              every fiber: number, id, state, function, name, what it waits for and how long
    (gdb) fiber 3 bt               the backtrace of fiber number 3; an id does as well
    (gdb) fiber all bt             of every one
    (gdb) fiber 3 frame function f any other command, with the frames of that fiber in place of the thread's own

Reads the records of the runtime by its debug information, so the library has to have that: -g, not stripped. Nothing is
called in the program and no register is written, which is why it works on a core file: an unwinder tells gdb that the
caller of the innermost frame is the suspended fiber.

The core file of a crash has all stacks (kill -ABRT makes one at will). That of gdb's own gcore lacks them on systems
whose guards between stacks are markers in the page table, because gdb gives up on a piece where it cannot read a page.

The length of a wait is exact to some milliseconds. In a core file it is counted from the last moment at which the
program looked at the clock.
"""
import re
import time

import gdb
import gdb.unwinder

PLACE_NEW = 1  # in wf_fiber.place: the fiber has no stack yet
PARENT_FIRST = 8 << 58  # in wf_fiber.parent: what weft_run was given
INDEX_BITS = 26


def integer(value):
    """The number in a value whose type may be atomic, which gdb does not always take for a number."""
    size = value.type.strip_typedefs().sizeof
    return int.from_bytes(bytes(gdb.selected_inferior().read_memory(int(value.address), size)), "little")


def pointed(value, type_name):
    """What an atomic or plain pointer points to, or None."""
    address = integer(value)
    return at(address, type_name) if address else None


def at(address, type_name):
    return gdb.Value(address).cast(gdb.lookup_type(type_name).pointer()).dereference()


def text(value):
    return value.string("utf-8", "replace")


def function_name(address):
    block = gdb.block_for_pc(address)
    if block and block.function:
        return block.function.name
    words = gdb.execute("info symbol %#x" % address, to_string=True).split()
    return words[0] if words and words[0] != "No" else "%#x" % address


class Fiber:
    """One record that is in use."""

    def __init__(self, runtime, record, state):
        self.record = record
        self.state = state
        self.index = int(record["index"])
        self.id = integer(record["task"]["version"]) << 32 | int(runtime["runtime"]) << INDEX_BITS | self.index
        self.entry = integer(record["entry"])
        if int(record["parent"]) & PARENT_FIRST:
            self.entry = int(at(int(runtime.address), "struct weft_runtime")["first"])
        place = integer(record["place"])
        self.stack = at(place, "struct wf_stack") if place and not place & PLACE_NEW else None
        self.attributes = None
        if place & PLACE_NEW and place != PLACE_NEW and state == "new":
            self.attributes = at(place - PLACE_NEW, "struct wf_attributes")

    def name(self):
        holder = self.stack or self.attributes
        return text(holder["name"]) if holder else ""

    def wait(self):
        return pointed(self.stack["waiting"], "struct wf_wait") if self.stack and self.state != "running" else None

    def is_missing(self):
        """Whoever wrote the core file left the memory of its stack out, which then reads as zeros."""
        return self.stack is not None and int(self.stack["slot_size"]) == 0

    def registers(self):
        """Where it goes on; None for a fiber that is not suspended."""
        if not self.stack or self.state not in ("parked", "ready") or self.is_missing():
            return None
        if int(self.stack["seat"]):  # it waits on a thread of its own, where gdb finds it by itself
            return None
        sp = int(self.stack["context"]["sp"])
        if "x86" in gdb.selected_inferior().architecture().name():
            # arch/context.h: rbp and the place to go on at lie below 128 bytes that were kept clear of a red zone.
            return {"rsp": sp + 16 + 128, "rbp": word_at(sp), "rip": word_at(sp + 8)}
        saved = [word_at(sp + 8 * i) for i in range(12)]  # arch/switch_aarch64.S: x19 to x30, then d8 to d15
        names = ["x%d" % (19 + i) for i in range(12)]
        return dict(zip(names, saved)) | {"sp": sp + 160, "pc": saved[11]}

    def thread(self):
        """The thread that runs it: the one whose stack pointer lies in its slot."""
        low = int(self.stack["low"])
        high = int(self.stack.address)
        for thread in gdb.selected_inferior().threads():
            thread.switch()
            if low <= int(gdb.newest_frame().read_register("sp")) < high:
                return thread
        return None


def word_at(address):
    return int.from_bytes(bytes(gdb.selected_inferior().read_memory(address, 8)), "little")


def runtimes():
    symbol = gdb.lookup_static_symbol("runtimes_table")
    if not symbol:
        raise gdb.GdbError("no runtime of weft here, or its library has no debug information")
    table = symbol.value()
    low, high = table.type.range()
    for number in range(low, high + 1):
        if int(table[number]["fibers"]):
            yield table[number]["fibers"].dereference()


def state_names():
    fields = gdb.lookup_type("enum wf_fiber_state").fields()
    return {field.enumval: field.name.replace("WF_FIBER_", "").lower() for field in fields}


def fibers():
    found = list(runtimes())  # first: it says what is wrong where there is nothing of weft
    names = state_names()
    size = gdb.lookup_type("struct wf_fiber").sizeof
    in_chunk = int(gdb.parse_and_eval("(int)WF_CHUNK_RECORDS"))
    for runtime in found:
        chunks = int(runtime["chunks"])
        for index in range(int(runtime["next_index"])):
            chunk = word_at(chunks + index // in_chunk * 8)
            record = at(chunk + index % in_chunk * size, "struct wf_fiber")
            state = names[integer(record["task"]["state"])]
            if state != "free":
                yield Fiber(runtime, record, state)


def is_core():
    return "core dump file" in gdb.execute("info target", to_string=True)


def now():
    """The clock of the program: the system's, or for a core file the last moment that a worker has read."""
    if not is_core():
        return time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    latest = 0
    for runtime in runtimes():
        engine = runtime["engine"]
        for i in range(int(engine["count"])):
            latest = max(latest, int(engine["processors"][i].dereference()["clock_ns"]))
    return latest


class InfoFibers(gdb.Command):
    """List every fiber of every runtime of weft.
Number, id, state, function, name, and for those that wait: what for, on what, how long."""

    def __init__(self):
        super().__init__("info fibers", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        found = list(fibers())
        if not found:
            print("No fibers.")
            return
        moment = now()
        functions = {}
        missing = 0
        print("%5s %-20s %-8s %-24s %-16s %s" % ("No", "Id", "State", "Function", "Name", "Waits for"))
        for number, fiber in enumerate(found, 1):
            missing += fiber.is_missing()
            if fiber.entry not in functions:
                functions[fiber.entry] = function_name(fiber.entry)
            print(("%5d %-20d %-8s %-24s %-16s %s" % (number, fiber.id, fiber.state, functions[fiber.entry],
                                                     fiber.name() or "-", self.wait_text(fiber, moment))).rstrip())

        if missing:
            print("%d stacks are not in this core file: gcore of gdb stops at the guard between two stacks, "
                  "the core file of a crash has all of them." % missing)

    @staticmethod
    def wait_text(fiber, moment):
        wait = fiber.wait()
        if wait is None:
            return ""
        seconds = max(0, moment - int(wait["since"])) / 1e9
        address = int(wait["object"])
        return "%s%s for %.3f s" % (text(wait["reason"]), " on %#x" % address if address else "", seconds)


class FrameId:
    def __init__(self, sp, pc):
        self.sp = sp
        self.pc = pc


class FiberUnwinder(gdb.unwinder.Unwinder):
    """While armed, says that a suspended fiber called the innermost frame of the thread."""

    def __init__(self):
        super().__init__("weft fiber")
        self.registers = None
        self.innermost = None

    def arm(self, registers):
        self.innermost = int(gdb.newest_frame().read_register("sp"))
        self.registers = registers
        gdb.invalidate_cached_frames()

    def disarm(self):
        self.registers = None
        gdb.invalidate_cached_frames()

    def __call__(self, pending):
        if not self.registers or int(pending.read_register("sp")) != self.innermost:
            return None
        info = pending.create_unwind_info(FrameId(pending.read_register("sp"), pending.read_register("pc")))
        kind = gdb.lookup_type("unsigned long")
        for name, value in self.registers.items():
            info.add_saved_register(name, gdb.Value(value).cast(kind))
        return info


class FiberCommand(gdb.Command):
    """Run a command in the frames of a fiber: fiber NUMBER|ID|all COMMAND.
"fiber 3 bt" prints the backtrace of fiber number 3 of "info fibers"."""

    def __init__(self, unwinder):
        super().__init__("fiber", gdb.COMMAND_STACK)
        self.unwinder = unwinder

    def invoke(self, argument, from_tty):
        words = argument.split(None, 1)
        if len(words) != 2:
            raise gdb.GdbError('say which fiber and what to do: "fiber 1 bt"')
        which, command = words
        if which != "all" and not which.isdigit():
            raise gdb.GdbError('a fiber is a number of "info fibers", an id, or all')
        found = False
        for number, fiber in enumerate(fibers(), 1):
            if which == "all" or int(which) in (number, fiber.id):
                found = True
                print("Fiber %d (id %d), %s in %s" % (number, fiber.id, fiber.state, function_name(fiber.entry)))
                self.execute(fiber, command)
        if not found and which != "all":
            raise gdb.GdbError("there is no fiber %s" % which)

    def execute(self, fiber, command):
        selected = gdb.selected_thread()
        registers = fiber.registers()
        try:
            if registers:
                self.execute_suspended(registers, command)
            elif fiber.is_missing():
                print("(its stack is not in this core file)")
            elif fiber.state != "running":
                print("(it has no frames)")
            elif fiber.thread():  # which is selected now
                gdb.execute(command)
            else:
                print("(no thread of the program runs it just now)")
        finally:
            if selected and selected.is_valid():
                selected.switch()

    def execute_suspended(self, registers, command):
        self.unwinder.arm(registers)
        try:
            skipped = 1  # frames of the thread: the innermost one, and those that were inlined into it
            frame = gdb.newest_frame()
            while frame.type() == gdb.INLINE_FRAME:
                frame = frame.older()
                skipped += 1
            if re.match(r"(bt|backtrace|where)\b", command):
                self.print_backtrace(gdb.execute(command, to_string=True), skipped)
            else:
                gdb.execute("frame %d" % skipped, to_string=True)
                gdb.execute(command)
        finally:
            self.unwinder.disarm()

    @staticmethod
    def print_backtrace(lines, skipped):
        is_printing = False
        for line in lines.splitlines():
            match = re.match(r"#(\d+)( +.*)", line)
            if match:
                is_printing = int(match.group(1)) >= skipped
                line = "#%-2d %s" % (int(match.group(1)) - skipped, match.group(2).lstrip())
            if is_printing:
                print(line)


UNWINDER = FiberUnwinder()
gdb.unwinder.register_unwinder(None, UNWINDER, replace=True)
InfoFibers()
FiberCommand(UNWINDER)
