-- ARGV from 3 on: keys. Answers their states and their bodies; nothing for each that is not there.
return {
    redis.call('HMGET', states, unpack(ARGV, 3)),
    redis.call('HMGET', bodies, unpack(ARGV, 3)),
}
