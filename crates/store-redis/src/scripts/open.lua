-- Creates a queue if there is none. KEYS: 1 meta, 2 jobs. ARGV: its format, the row of its empty
-- key.
redis.call('HSETNX', KEYS[1], 'format', ARGV[1])
redis.call('HSETNX', KEYS[2], '', ARGV[2])
