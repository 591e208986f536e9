import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * Netty's HashedWheelTimer with a tick of a millisecond. Its thread takes new and cancelled timers
 * from queues, at most 100,000 new ones per tick.
 */
public final class Netty implements Play.Timers {
    private final HashedWheelTimer timer =
        new HashedWheelTimer(Executors.defaultThreadFactory(), 1, TimeUnit.MILLISECONDS, 65_536);

    @Override
    public Object start(Runnable task, long delayNanos) {
        return timer.newTimeout(timeout -> task.run(), delayNanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public boolean stop(Object timer) {
        return ((Timeout) timer).cancel();
    }

    /** The queue is FIFO: when its last timer fires, all others are in the wheel. */
    @Override
    public void settle() {
        CountDownLatch last = new CountDownLatch(1);
        timer.newTimeout(timeout -> last.countDown(), 0, TimeUnit.NANOSECONDS);
        try {
            last.await();
        } catch (InterruptedException error) {
            throw new IllegalStateException(error);
        }
    }

    @Override
    public void close() {
        timer.stop();
    }
}
