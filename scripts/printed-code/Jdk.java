// Checks the statements of S4 about the JDK's timers on the JDK. The article has no listing.
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicInteger;

public class Jdk {
    static void show(String key, Object value) {
        System.out.println(key + "\t" + value);
    }

    static TimerTask task(Runnable act) {
        return new TimerTask() {
            public void run() {
                act.run();
            }
        };
    }

    static void slowTask() throws Exception {
        Timer timer = new Timer(true);
        CountDownLatch done = new CountDownLatch(1);
        long[] at = new long[2];
        timer.schedule(task(() -> {
            at[0] = System.nanoTime();
            try { Thread.sleep(300); } catch (InterruptedException e) { }
        }), 10);
        timer.schedule(task(() -> { at[1] = System.nanoTime(); done.countDown(); }), 20);
        done.await();
        show("C41.next-waits", (at[1] - at[0]) / 1_000_000 >= 300);
    }

    static void failingTask() throws Exception {
        Timer timer = new Timer(true);
        AtomicInteger later = new AtomicInteger();
        Thread.setDefaultUncaughtExceptionHandler((thread, error) -> { });
        timer.schedule(task(later::incrementAndGet), 100);
        timer.schedule(task(() -> { throw new RuntimeException("a task failed"); }), 1);
        Thread.sleep(300);
        show("C47.later-task-of-timer", later.get());
        String said;
        try {
            timer.schedule(task(() -> { }), 1);
            said = "accepted";
        } catch (IllegalStateException e) {
            said = e.getMessage();
        }
        show("C47.schedule-again", said);
    }

    static void pool() throws Exception {
        ScheduledThreadPoolExecutor pool = new ScheduledThreadPoolExecutor(1);
        AtomicInteger failing = new AtomicInteger();
        CountDownLatch other = new CountDownLatch(10);
        Future<?> dropped = pool.scheduleAtFixedRate(() -> {
            if (failing.incrementAndGet() == 2) throw new RuntimeException("a task failed");
        }, 1, 1, TimeUnit.MILLISECONDS);
        pool.scheduleAtFixedRate(other::countDown, 5, 1, TimeUnit.MILLISECONDS);
        other.await();
        show("C47.pool-runs-others", true);
        show("C47.pool-drops-periodic", failing.get() + " runs, done " + dropped.isDone());
        pool.shutdownNow();
    }

    static int left(boolean remove) {
        ScheduledThreadPoolExecutor pool = new ScheduledThreadPoolExecutor(1);
        pool.setRemoveOnCancelPolicy(remove);
        for (int i = 0; i < 100_000; i++) {
            pool.schedule(() -> { }, 1, TimeUnit.HOURS).cancel(false);
        }
        int left = pool.getQueue().size();
        pool.shutdownNow();
        return left;
    }

    public static void main(String[] args) throws Exception {
        slowTask();
        failingTask();
        pool();
        show("C46.cancelled-kept", left(false));
        show("C46.cancelled-removed", left(true));
    }
}
