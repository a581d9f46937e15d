"""The same network event by event, with SimPy: what the one in C is held against. It shares no code."""

import simpy


class EventSimulation:
    """One sample of a model, run by processes that wait for each other."""

    def __init__(self, model, sample=0):
        self.of = {
            name: _column(getattr(model, name), sample)
            for name in (
                "compute_s write_s stall_s hand_s beside_s limit_s transfer_s seek_s work_s behind_s readers "
                "calls_ahead batches_ahead in_order burst_s wait_serial transfer_serial work_serial "
                "behind_serial"
            ).split()
        }
        self.of["wait_s"] = _column(model.wait_s.sum(0), sample)
        self.batch, self.epoch = model.batch.tolist(), model.epoch.tolist()
        self.late_s = _column(model.late_s, sample)
        self.env = simpy.Environment()
        self.storage, self.processors, self.behind, self.limit = (simpy.Resource(self.env) for _ in range(4))
        self.lent_s = self.of["burst_s"]
        self.rested_from_s = 0.0
        self.next_task = 0
        tasks, batches = len(self.batch), len(self.epoch)
        self.may_begin = [self.env.event() for _ in range(tasks)]
        self.read = [self.env.event() for _ in range(tasks)]
        self.finished = [self.env.event() for _ in range(tasks)]
        self.finished_by_time = simpy.Store(self.env)
        self.asked, self.taken, self.ready = ([self.env.event() for _ in range(batches)] for _ in range(3))
        self.ask_s, self.got_s = [0.0], []

    def run(self):
        for _ in range(self.of["readers"]):
            self.env.process(self.reader())
        self.env.process(self.parser())
        self.env.process(self.producer())
        self.env.run(self.env.process(self.loop()))
        return self.ask_s, self.got_s

    def reader(self):
        while self.next_task < len(self.batch):
            task, self.next_task = self.next_task, self.next_task + 1
            yield self.may_begin[task]
            yield from self.pass_limit(self.of["limit_s"][task])
            of, shares = self.of, self.of
            serial = of["wait_s"][task] * shares["wait_serial"] + of["seek_s"][task]
            serial += of["transfer_s"][task] * shares["transfer_serial"]
            whole = of["wait_s"][task] + of["transfer_s"][task] + of["seek_s"][task]
            yield from self.use(self.storage, serial, whole - serial)
            work = of["work_s"][task]
            yield from self.use(self.processors, work * of["work_serial"], work * (1 - of["work_serial"]))
            self.read[task].succeed()

    def use(self, station, serial_s, delay_s):
        if serial_s > 0:
            with station.request() as turn:
                yield turn
                yield self.env.timeout(serial_s)
        yield self.env.timeout(max(0.0, delay_s))

    def pass_limit(self, need_s):
        """A bucket that fills by one second a second, and holds `burst_s`."""
        if need_s <= 0:
            return
        with self.limit.request() as turn:
            yield turn
            rested_s = self.env.now - self.rested_from_s
            have_s = min(self.of["burst_s"], self.lent_s + rested_s)
            short_s = max(0.0, need_s - have_s)
            yield self.env.timeout(short_s)
            self.lent_s, self.rested_from_s = max(have_s - need_s, 0.0), self.env.now

    def parser(self):
        """Hand tasks on in order, each as soon as it is read."""
        for task, read in enumerate(self.read):
            if self.of["in_order"]:
                yield read
                yield from self.parse(task)
            else:
                read.callbacks.append(lambda _read, task=task: self.env.process(self.parse(task)))

    def parse(self, task):
        work = self.of["behind_s"][task]
        with self.behind.request() as turn:
            yield turn
            yield self.env.timeout(work * self.of["behind_serial"])
        self.env.process(self.parse_on(task, work * (1 - self.of["behind_serial"])))

    def parse_on(self, task, delay_s):
        yield self.env.timeout(delay_s)
        self.finished[task].succeed()
        self.finished_by_time.put(task)

    def producer(self):
        """Put batches together in order, as many ahead as may be."""
        ahead, calls, used, first_batch, first_task = (
            self.of["batches_ahead"],
            self.of["calls_ahead"],
            0,
            0,
            0,
        )
        for number, epoch in enumerate(self.epoch):
            if number == 0 or epoch != self.epoch[number - 1]:
                yield self.asked[number]
                yield self.env.timeout(self.late_s[epoch])
                first_batch, first_task = number, used
                self.let_begin(first_task, first_task + calls, epoch)
            if number - ahead >= first_batch:
                yield self.taken[number - ahead] if ahead else self.asked[number]
            mine = [task for task, batch in enumerate(self.batch) if batch == number]
            if not calls:
                self.let_begin(used, used + len(mine), epoch)
            for task in mine:
                yield self.finished[task] if self.of["in_order"] else self.finished_by_time.get()
                if calls:
                    self.let_begin(used + calls, used + calls + 1, epoch)
                used += 1
            self.ready[number].succeed()

    def let_begin(self, first, last, epoch):
        for task in range(first, min(last, len(self.batch))):
            if self.epoch[self.batch[task]] == epoch:
                self.may_begin[task].succeed()

    def loop(self):
        of = self.of
        for number in range(len(self.epoch)):
            self.asked[number].succeed()
            yield self.ready[number]
            yield self.env.timeout(of["hand_s"][number])
            self.got_s.append(self.env.now)
            self.taken[number].succeed()
            yield self.env.timeout(of["compute_s"][number])
            yield from self.write(of["write_s"][number])
            self.env.process(self.write(of["beside_s"][number]))
            yield self.env.timeout(of["stall_s"][number])
            self.ask_s.append(self.env.now)

    def write(self, need_s):
        share = self.of["transfer_serial"]
        yield from self.use(self.storage, need_s * share, need_s * (1 - share))


def _column(values, sample):
    if values.ndim == 1:
        return values[sample].item()
    return values[:, min(sample, values.shape[1] - 1)].tolist()
