// Plays a stream of wheelhouse on the timers of libevent, a binary heap. benches/FOREIGN.md
// describes the file and the protocol.
//
// libevent asks the system for the time with clock_gettime. This program defines a function of that
// name, which the linker prefers, and so has its own clock: a tick is a millisecond.
#include <event2/event.h>
#include <event2/event_struct.h>

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstring>
#include <iostream>
#include <string>
#include <vector>

static uint64_t now; // in ticks

extern "C" int clock_gettime(clockid_t, timespec *time) noexcept {
    *time = {time_t(1000 + now / 1000), long(now % 1000 * 1000000)};
    return 0;
}

static uint64_t nanoseconds() {
    timespec time;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
    return uint64_t(time.tv_sec) * 1000000000 + uint64_t(time.tv_nsec);
}

struct Op {
    uint32_t kind, label;
    uint64_t tick;
};
enum { insert, cancel, reschedule, advance, ticks };

struct Timer {
    event timeout;
    uint64_t value;
    uint32_t label;
};

static event_base *base;
static std::vector<Timer *> timers; // by label; null if it is not live
static uint64_t inserted, checksum, fired_sum, fired_count;

static uint64_t rotated(uint64_t word, int by) { return word << by | word >> (64 - by); }

static const uint64_t FACTOR = 0x9e3779b97f4a7c15;

static void add(uint64_t word) { checksum = (rotated(checksum, 23) ^ word) * FACTOR; }

static void fired(evutil_socket_t, short, void *argument) {
    Timer *timer = static_cast<Timer *>(argument);
    fired_sum += rotated((timer->value + 1) * FACTOR, 29);
    fired_count++;
    timers[timer->label] = nullptr;
    delete timer;
}

// A timer with a past deadline is due at once.
static void schedule(Timer *timer, uint64_t deadline) {
    uint64_t delay = deadline > now ? deadline - now : 0;
    timeval after = {time_t(delay / 1000), suseconds_t(delay % 1000 * 1000)};
    event_add(&timer->timeout, &after);
}

static void move_clock(uint64_t to) {
    if (to > now) now = to;
    fired_sum = fired_count = 0;
    event_base_loop(base, EVLOOP_NONBLOCK | EVLOOP_ONCE);
    if (fired_count > 0) add(fired_sum);
}

static void play(const Op &op) {
    switch (op.kind) {
    case insert: {
        Timer *timer = new Timer{{}, inserted++, op.label};
        evtimer_assign(&timer->timeout, base, fired, timer);
        schedule(timer, op.tick);
        timers[op.label] = timer;
        break;
    }
    case cancel: {
        Timer *timer = timers[op.label];
        add(timer ? timer->value + 1 : 0);
        if (!timer) break;
        event_del(&timer->timeout);
        timers[op.label] = nullptr;
        delete timer;
        break;
    }
    case reschedule:
        if (timers[op.label]) schedule(timers[op.label], op.tick);
        add(timers[op.label] != nullptr);
        break;
    case advance: return move_clock(op.tick);
    case ticks:
        for (uint64_t left = op.label; left-- > 0;) move_clock(op.tick - left);
        break;
    default: abort();
    }
}

static void restart(size_t labels) {
    for (Timer *timer : timers) {
        if (timer) event_del(&timer->timeout);
        delete timer;
    }
    if (base) event_base_free(base);
    now = inserted = 0;
    checksum = 0xcbf29ce484222325;
    base = event_base_new();
    timers.assign(labels, nullptr);
}

int main(int, char **arguments) {
    FILE *file = fopen(arguments[1], "rb");
    char magic[8];
    uint32_t labels, phases, count;
    auto get = [&](void *into, size_t size, size_t many) {
        if (file && fread(into, size, many, file) == many) return;
        fprintf(stderr, "not a stream of wheelhouse: %s\n", arguments[1]);
        exit(1);
    };
    get(magic, 1, 8);
    if (memcmp(magic, "whplay01", 8) != 0) file = nullptr; // the next read reports it
    get(&labels, 4, 1);
    get(&phases, 4, 1);
    std::vector<std::vector<Op>> stream(phases);
    for (auto &phase : stream) {
        get(&count, 4, 1);
        phase.resize(count);
        get(phase.data(), sizeof(Op), count);
    }
    std::cout << "ready" << std::endl;
    size_t next = 0;
    for (std::string word; std::getline(std::cin, word);) {
        if (word == "new") {
            restart(labels);
            next = 0;
            std::cout << "ready" << std::endl;
            continue;
        }
        uint64_t begin = nanoseconds();
        for (const Op &op : stream[next]) play(op);
        uint64_t taken = nanoseconds() - begin;
        next++;
        std::cout << std::dec << taken << ' ' << std::hex << checksum << std::endl;
    }
}
