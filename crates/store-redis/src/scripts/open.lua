-- Makes a queue if there is none: format and epoch. KEYS: 1 meta. ARGV: format, an epoch for a new
-- queue. Answers both as they are then.
redis.call('HSETNX', KEYS[1], 'format', ARGV[1])
redis.call('HSETNX', KEYS[1], 'epoch', ARGV[2])
return redis.call('HMGET', KEYS[1], 'format', 'epoch')
