-- Makes a queue if there is none: format and epoch. KEYS: 1 meta. ARGV: both, of a new queue.
redis.call('HSETNX', KEYS[1], 'format', ARGV[1])
redis.call('HSETNX', KEYS[1], 'epoch', ARGV[2])
