-- Creates a queue if there is none, or converts one of format 1. Does not change an incomplete
-- queue. KEYS: 1 meta, 2 jobs, 3 bodies, 4 dead letters, 5 states of format 1. ARGV: the format,
-- the row of the empty key of a new queue, the length of the longest body in a row.
local meta, jobs, bodies, dead, states = unpack(KEYS)
local sub = string.sub
-- It writes first, because a server that refuses writes is found by that, such as a replica. A full
-- server also refuses a write that would change nothing: there the queue is used as it is.
local created = redis.pcall('HSETNX', meta, 'format', ARGV[1])
if created == 1 then
    redis.call('HSETNX', jobs, '', ARGV[2])
elseif created ~= 0 then
    -- Up to Redis 6 the code is within the text.
    local is_full = string.find(created.err, '^OOM ') or string.find(created.err, ': %-OOM ')
    if not (is_full and redis.call('HGET', meta, 'format')) then
        -- Raises the error as other scripts do: up to Redis 6, a returned one has another form.
        redis.call('HSETNX', meta, 'format', ARGV[1])
    end
end
local format, last, epoch = unpack(redis.call('HMGET', meta, 'format', 'last', 'epoch'))
if format ~= '1' or not epoch then return end

-- In format 1 a job had a state and a body, in a hash each, and `meta` had the last number and the
-- epoch. Returns the row of a job, and whether its body is not in the row.
local function row_of(state, body)
    local kind, is_long = sub(state, 46), #body - 4 > tonumber(ARGV[3])
    local row = sub(state, 1, 9) .. sub(state, 42, 45) .. sub(state, 10, 41)
        .. string.char(is_long and 1 or 0, #kind) .. kind
    return is_long and row or row .. body, is_long
end

local keys = redis.call('HKEYS', states)
-- Before the first write: an error would leave a part converted.
for _, key in ipairs(keys) do
    if redis.call('HEXISTS', bodies, key) == 0 then
        return redis.error_reply('ERR a job has no body')
    end
end
redis.call('HSET', jobs, '', struct.pack('>I8', last or 0) .. epoch)
for _, key in ipairs(keys) do
    local state, body = redis.call('HGET', states, key), redis.call('HGET', bodies, key)
    local row, is_long = row_of(state, body)
    redis.call('HSET', jobs, key, row)
    if not is_long then redis.call('HDEL', bodies, key) end
end
local LETTER = '>I4I4I4I8'
for _, generation in ipairs(redis.call('HKEYS', dead)) do
    local letter = redis.call('HGET', dead, generation)
    local its_state, its_key, its_reason, at = struct.unpack(LETTER, letter)
    local from = 21 + its_state
    local body_from = from + its_key + its_reason
    local body = sub(letter, body_from)
    local row, is_long = row_of(sub(letter, 21, from - 1), body)
    redis.call('HSET', dead, generation, struct.pack(LETTER, #row, its_key, its_reason, at)
        .. row .. sub(letter, from, body_from - 1) .. (is_long and body or ''))
end
redis.call('DEL', states)
redis.call('HDEL', meta, 'epoch', 'last')
redis.call('HSET', meta, 'format', ARGV[1])
