-- Creates a queue if there is none. KEYS: 1 meta, 2 jobs. ARGV: its format, the row of its empty
-- key. An incomplete queue stays as it is.
if redis.call('HSETNX', KEYS[1], 'format', ARGV[1]) == 1 then
    redis.call('HSETNX', KEYS[2], '', ARGV[2])
end
