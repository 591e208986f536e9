-- Creates a queue if there is none. KEYS: 1 meta. ARGV: format and epoch of a new queue.
redis.call('HSETNX', KEYS[1], 'format', ARGV[1])
redis.call('HSETNX', KEYS[1], 'epoch', ARGV[2])
