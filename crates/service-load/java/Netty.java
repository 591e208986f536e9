import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** Netty's timer with a tick of a millisecond. Its thread takes in up to 100,000 timers a tick. */
public final class Netty implements Load.Timers {
    private final HashedWheelTimer timer =
        new HashedWheelTimer(Executors.defaultThreadFactory(), 1, TimeUnit.MILLISECONDS, 65_536);

    @Override
    public Object schedule(Runnable task, long delayNanos) {
        return timer.newTimeout(timeout -> task.run(), delayNanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public void cancel(Object handle) {
        ((Timeout) handle).cancel();
    }

    @Override
    public void stop() {
        timer.stop();
    }
}
