-- Returns the states and the bodies of keys; nil for a missing row. ARGV from 3 on: keys.
return {
    redis.call('HMGET', states, unpack(ARGV, 3)),
    redis.call('HMGET', bodies, unpack(ARGV, 3)),
}
