import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** ScheduledThreadPoolExecutor: an indexed binary heap under a lock. */
public final class Executor implements Play.Timers {
    private final ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1);

    public Executor() {
        executor.setRemoveOnCancelPolicy(true); // otherwise cancelled tasks stay until they are due
    }

    @Override
    public Object start(Runnable task, long delayNanos) {
        return executor.schedule(task, delayNanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public boolean stop(Object timer) {
        return ((Future<?>) timer).cancel(false);
    }

    @Override
    public void settle() { }

    @Override
    public void close() {
        executor.shutdownNow();
    }
}
