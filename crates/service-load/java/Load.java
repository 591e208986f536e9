import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** The experiments of wheelhouse-service-load that Java's timers can play, in the same sizes. */
public final class Load {
    /** A timer facility. */
    interface Timers {
        Object schedule(Runnable task, long delayNanos);

        void cancel(Object handle);

        void stop();
    }

    /** java.util.concurrent's executor, with cancelled tasks removed from the queue. */
    static final class Executor implements Timers {
        private final ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1);

        Executor() {
            executor.setRemoveOnCancelPolicy(true);
        }

        @Override
        public Object schedule(Runnable task, long delayNanos) {
            return executor.schedule(task, delayNanos, TimeUnit.NANOSECONDS);
        }

        @Override
        public void cancel(Object handle) {
            ((java.util.concurrent.Future<?>) handle).cancel(false);
        }

        @Override
        public void stop() {
            executor.shutdownNow();
        }
    }

    static final int PRODUCERS = 2;
    static final int PENDING = Integer.getInteger("jobs", 1_000_000);
    static final int WINDOW = 1_024;
    static final int RATE = 100_000;
    static final double SECONDS = Double.parseDouble(System.getProperty("seconds", "1"));
    static final long HOUR = TimeUnit.HOURS.toNanos(1);

    static Timers start(String facility) throws ReflectiveOperationException {
        if (facility.equals("ScheduledThreadPoolExecutor")) {
            return new Executor();
        }
        return (Timers) Class.forName("Netty").getDeclaredConstructor().newInstance();
    }

    /** Calls this on two threads at once. Returns how long that took, in nanoseconds. */
    static long together(java.util.function.IntConsumer what) throws InterruptedException {
        Thread[] threads = new Thread[PRODUCERS];
        long begin = System.nanoTime();
        for (int n = 0; n < PRODUCERS; n++) {
            int number = n;
            threads[n] = new Thread(() -> what.accept(number));
            threads[n].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        return System.nanoTime() - begin;
    }

    /** Schedules this many jobs by two threads, each due in one to two hours. */
    static long stand(Timers timers, int jobs) throws InterruptedException {
        Runnable nothing = () -> {};
        return together(number -> {
            SplittableRandom random = new SplittableRandom(number);
            for (int n = 0; n < jobs / PRODUCERS; n++) {
                timers.schedule(nothing, HOUR + random.nextLong(HOUR));
            }
        });
    }

    /** Returns pairs a second. Each pair schedules a job and cancels the oldest of a window. */
    static double pairs(Timers timers, int window) throws InterruptedException {
        long[] pairs = new long[PRODUCERS];
        Runnable nothing = () -> {};
        long took = together(number -> {
            SplittableRandom random = new SplittableRandom(number);
            ArrayDeque<Object> outstanding = new ArrayDeque<>();
            long until = System.nanoTime() + (long) (SECONDS * 1e9);
            while (pairs[number] % 16 != 0 || System.nanoTime() < until) {
                outstanding.add(timers.schedule(nothing, HOUR / 120 + random.nextLong(HOUR / 120)));
                if (outstanding.size() > window) {
                    timers.cancel(outstanding.poll());
                    pairs[number]++;
                }
            }
            outstanding.forEach(timers::cancel);
        });
        return Arrays.stream(pairs).sum() * 1e9 / took;
    }

    /** Returns runs a second of jobs that are due at one instant, or NaN if it came too soon. */
    static double burst(Timers timers) throws InterruptedException {
        long instant = System.nanoTime() + 3_000_000_000L;
        CountDownLatch latch = new CountDownLatch(PENDING / PRODUCERS * PRODUCERS);
        Runnable run = latch::countDown;
        together(number -> {
            for (int n = 0; n < PENDING / PRODUCERS; n++) {
                timers.schedule(run, instant - System.nanoTime());
            }
        });
        if (System.nanoTime() >= instant) {
            return Double.NaN;
        }
        latch.await();
        return PENDING * 1e9 / (System.nanoTime() - instant);
    }

    /** Lateness of jobs that fire at a rate: p50, p99, p99.9; and CPU time per job; all in us. */
    static double[] fires(Timers timers) throws InterruptedException {
        int jobs = (int) (RATE * SECONDS * 3);
        long[] late = new long[jobs];
        CountDownLatch latch = new CountDownLatch(jobs);
        OperatingSystemMXBean system =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        SplittableRandom random = new SplittableRandom(1);
        long[][] plan = new long[jobs][];
        for (int n = 0; n < jobs; n++) {
            long due = 1_000_000_000L + n * 1_000_000_000L / RATE + random.nextLong(10_000);
            plan[n] = new long[] {due - 10_000_000L - random.nextLong(990_000_000L), due};
        }
        Arrays.sort(plan, (a, b) -> Long.compare(a[0], b[0]));
        long origin = System.nanoTime() + 20_000_000L;
        long cpu = system.getProcessCpuTime();
        for (int n = 0; n < jobs; n++) {
            int number = n;
            long due = origin + plan[n][1];
            while (System.nanoTime() < origin + plan[n][0]) {
                LockSupport.parkNanos(200_000);
            }
            timers.schedule(() -> {
                late[number] = System.nanoTime() - due;
                latch.countDown();
            }, due - System.nanoTime());
        }
        latch.await();
        double used = (system.getProcessCpuTime() - cpu) / 1e3 / jobs;
        Arrays.sort(late);
        if (late[0] < 0) {
            throw new IllegalStateException("a job ran " + -late[0] + " ns early");
        }
        return new double[] {
            late[jobs / 2] / 1e3, late[jobs / 100 * 99] / 1e3, late[jobs / 1000 * 999] / 1e3, used
        };
    }

    static long used() throws InterruptedException {
        for (int n = 0; n < 3; n++) {
            System.gc();
            Thread.sleep(50);
        }
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    /** Returns a row. Each experiment runs once to warm up and once for the figure. */
    static String row(String facility) throws Exception {
        double[] figures = new double[9];
        for (int round = 0; round < 2; round++) {
            Timers timers = start(facility);
            long before = used();
            figures[0] = PENDING * 1e9 / stand(timers, PENDING);
            figures[1] = (used() - before) / (double) PENDING;
            figures[2] = pairs(timers, 0);
            figures[3] = pairs(timers, WINDOW);
            timers.stop();
            timers = start(facility);
            figures[4] = burst(timers);
            timers.stop();
            timers = start(facility);
            System.arraycopy(fires(timers), 0, figures, 5, 4);
            timers.stop();
        }
        return String.format(
            "| %s | %,.0f | %.0f | %,.0f | %,.0f | %,.0f | %.0f | %.0f | %.0f | %.2f |",
            facility, figures[0], figures[1], figures[2], figures[3], figures[4], figures[5],
            figures[6], figures[7], figures[8]);
    }

    public static void main(String[] facilities) throws Exception {
        System.out.println("| facility | schedules/s | bytes/job | pairs/s beside | pairs/s window "
            + "| burst runs/s | fires p50 µs | p99 µs | p99.9 µs | CPU/fire µs |");
        System.out.println("| :--- " + "| ---: ".repeat(9) + "|");
        for (String facility : facilities) {
            System.out.println(row(facility));
        }
        System.exit(0);
    }
}
