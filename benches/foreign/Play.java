import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

/**
 * Plays a stream of wheelhouse on a timer of Java. The first argument is its class, the second the
 * file of the stream. benches/FOREIGN.md describes the file and the protocol.
 */
public final class Play {
    /** Timers on real time. */
    public interface Timers {
        Object start(Runnable task, long delayNanos);

        /** Stops a timer; returns true if it was live. */
        boolean stop(Object timer);

        /** Does deferred work, and returns when it is done. */
        void settle();

        void close();
    }

    /** The operations of a phase. */
    record Ops(int[] kinds, int[] labels, long[] ticks) { }

    static final int INSERT = 0, CANCEL = 1, RESCHEDULE = 2, ADVANCE = 3;
    static final long HOUR = 3_600_000_000_000L, MILLISECOND = 1_000_000L;
    static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
    static final long FACTOR = 0x9e3779b97f4a7c15L;

    final Timers timers;
    /** The handle of each timer, by label; null if it is not live. */
    final Object[] handles;
    final long[] values;
    long inserted;
    long checksum = 0xcbf29ce484222325L;
    /** The sum over the timers that have fired. */
    final AtomicLong firedSum = new AtomicLong();
    CountDownLatch allFired;
    /** Timers that have not fired yet. Only the timer thread writes to it. */
    volatile int waiting;
    volatile long begin;
    volatile long end;

    Play(Timers timers, int labels) {
        this.timers = timers;
        handles = new Object[labels];
        values = new long[labels];
    }

    void add(long word) {
        checksum = (Long.rotateLeft(checksum, 23) ^ word) * FACTOR;
    }

    /** Far in the future: no timer is due by itself. */
    static long delay(long tick) {
        return HOUR + (tick & (1L << 42) - 1) * MILLISECOND;
    }

    Object start(long value, long delayNanos) {
        return timers.start(() -> fired(value), delayNanos);
    }

    /** Called by each timer that fires, on the timer thread. */
    void fired(long value) {
        if (begin == 0) begin = CLOCK.getCurrentThreadCpuTime();
        firedSum.addAndGet(Long.rotateLeft((value + 1) * FACTOR, 29));
        if (--waiting > 0) return;
        end = CLOCK.getCurrentThreadCpuTime();
        allFired.countDown();
    }

    /** Plays a phase, and returns its time in nanoseconds. */
    long play(Ops ops) throws InterruptedException {
        if (ops.kinds.length == 1 && ops.kinds[0] == ADVANCE) return fireAll();
        long begin = System.nanoTime();
        for (int i = 0; i < ops.kinds.length; i++) {
            int label = ops.labels[i];
            Object handle = handles[label];
            switch (ops.kinds[i]) {
                case INSERT -> {
                    long value = values[label] = inserted++;
                    handles[label] = start(value, delay(ops.ticks[i]));
                }
                case CANCEL -> {
                    add(handle != null && timers.stop(handle) ? values[label] + 1 : 0);
                    handles[label] = null;
                }
                // Neither library can move a timer.
                case RESCHEDULE -> {
                    boolean live = handle != null && timers.stop(handle);
                    if (live) handles[label] = start(values[label], delay(ops.ticks[i]));
                    add(live ? 1 : 0);
                }
                default -> throw new IllegalStateException("a real clock cannot be moved");
            }
        }
        timers.settle(); // deferred work is charged to the phase that defers it
        return System.nanoTime() - begin;
    }

    /**
     * Starts all live timers again, so that they are due at one instant, and keeps the processor
     * busy until then; neither is timed. Returns the processor time of the timer thread from
     * the first task to the last. If a timer is due before the last one is started, retries
     * with twice the delay.
     */
    long fireAll() throws InterruptedException {
        int[] live = IntStream.range(0, handles.length).filter(i -> handles[i] != null).toArray();
        for (int tries = 0; tries < 10; tries++) {
            allFired = new CountDownLatch(1);
            waiting = live.length;
            begin = 0;
            firedSum.set(0);
            long due = System.nanoTime() + (50 * MILLISECOND + live.length * 2_000L << tries);
            for (int label : live) {
                timers.stop(handles[label]);
                handles[label] = start(values[label], due - System.nanoTime());
            }
            timers.settle();
            boolean late = System.nanoTime() > due;
            while (System.nanoTime() < due) Thread.onSpinWait();
            allFired.await();
            if (late) continue;
            add(firedSum.get());
            Arrays.fill(handles, null);
            return end - begin;
        }
        throw new IllegalStateException("timers are due too early; is the machine busy?");
    }

    static List<Ops> read(ByteBuffer file) {
        List<Ops> phases = new ArrayList<>();
        for (int left = file.getInt(); left > 0; left--) {
            int n = file.getInt();
            Ops ops = new Ops(new int[n], new int[n], new long[n]);
            for (int i = 0; i < n; i++) {
                ops.kinds[i] = file.getInt();
                ops.labels[i] = file.getInt();
                ops.ticks[i] = file.getLong();
            }
            phases.add(ops);
        }
        return phases;
    }

    public static void main(String[] arguments) throws Exception {
        ByteBuffer file;
        try (FileChannel channel = FileChannel.open(Path.of(arguments[1]))) {
            file = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size());
        }
        file.order(ByteOrder.LITTLE_ENDIAN);
        if (file.getLong() != 0x3130_7961_6c70_6877L) {
            throw new IllegalArgumentException("not a stream of wheelhouse: " + arguments[1]);
        }
        int labels = file.getInt();
        List<Ops> phases = read(file);
        var facility = Class.forName(arguments[0]).getDeclaredConstructor();
        BufferedReader words = new BufferedReader(new InputStreamReader(System.in));
        Play player = new Play((Timers) facility.newInstance(), labels);
        // Once in advance, for the JIT compiler.
        for (Ops ops : phases) player.play(ops);
        System.out.println("ready");
        int next = 0;
        for (String word = words.readLine(); word != null; word = words.readLine()) {
            if (word.equals("new")) {
                player.timers.close();
                player = new Play((Timers) facility.newInstance(), labels);
                System.gc();
                next = 0;
                System.out.println("ready");
            } else {
                long taken = player.play(phases.get(next++));
                System.out.println(taken + " " + Long.toHexString(player.checksum));
            }
        }
        player.timers.close();
    }
}
