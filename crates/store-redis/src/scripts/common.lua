-- The common beginning of all scripts. Lua's numbers are exact up to 2^53. Tokens and occurrences
-- are only compared or passed on, so they stay strings of eight bytes.
--
-- KEYS: 1 meta, 2 states, 3 bodies, 4 dead letters, 5 their order, 6 kinds, 7 prefix of the orders
-- (the channel), then the orders of the kinds that the script may touch
-- ARGV: 1 epoch, 2 time in milliseconds to use instead of the server's clock, or an empty string
local meta, states, bodies, dead, dead_order, kinds, order = unpack(KEYS, 1, 7)

local epoch, last_drawn = unpack(redis.call('HMGET', meta, 'epoch', 'last'))
if epoch ~= ARGV[1] then
    return redis.error_reply('EPOCH the data are not those of before')
end

-- kind -> its order. A script touches no key that is not in KEYS.
local order_of = {}
for i = 8, #KEYS do order_of[string.sub(KEYS[i], #order + 1)] = KEYS[i] end

-- Returns true if KEYS has the order of each kind that has rows. A script checks this before its
-- first write. If it is false, the caller reads all kinds and repeats the call.
local function knows_all_kinds()
    for _, kind in ipairs(redis.call('SMEMBERS', kinds)) do
        if not order_of[kind] then return false end
    end
    return true
end
local UNKNOWN_KINDS = 'KINDS the queue has kinds that the call does not name'

-- The present in milliseconds, rounded down and up, and in microseconds.
local now, now_up, micros
if ARGV[2] == '' then
    local time = redis.call('TIME')
    micros = tonumber(time[1]) * 1000000 + tonumber(time[2])
    now, now_up = math.floor(micros / 1000), math.ceil(micros / 1000)
else
    now = tonumber(ARGV[2])
    now_up, micros = now, now * 1000
end

-- A number as Redis reads it: Lua would write a large number with an exponent. Most rows of a call
-- have the same time, so the last text is kept.
local last_number, last_text
local function text(number)
    if number ~= last_number then
        last_number, last_text = number, string.format('%.0f', number)
    end
    return last_text
end

-- Draws a number that was never drawn before, even if the data were lost or restored from an old
-- copy.
local last
local function draw()
    if not last then
        last = math.max(tonumber(last_drawn or '0'), micros)
    end
    last = last + 1
    return last
end
local function keep_drawn()
    if last then redis.call('HSET', meta, 'last', text(last)) end
end

local LAST_TIME = 9007199254740991
-- The end of a lease.
local function lease_end(duration) return math.min(now_up + duration, LAST_TIME) end
-- The time after a delay. After no delay, the present rounded down is not early.
local function later(delay) return delay == 0 and now or lease_end(delay) end

-- A full server refuses a script only at its first write, and only if that write needs memory. Jobs
-- must be able to begin and end, or the server stays full. So a script begins with a write that
-- changes nothing: one that needs no memory, or one that needs some if the batch has new jobs.
local has_written = false
local function first_write(has_new)
    if has_written then return end
    has_written = true
    if has_new then redis.call('HSETNX', meta, 'epoch', '') else redis.call('HDEL', meta, '') end
end

-- A row's state: one of these numbers, token, end of the lease (in a pending row, when it is
-- visible), due, generation, occurrence, attempt, kind. A pending row with a token is leased, and
-- its run has not begun.
local PENDING, BEGUN, CLOSED, REPLACED = 0, 1, 2, 3
local NO_TOKEN = string.rep('\0', 8)
local HEAD = '>Bc8I8I8I8c8I4'
local HEAD_BYTES = 45

local function unpack_row(packed)
    local state, token, ends, due, generation, occurrence, attempt = struct.unpack(HEAD, packed)
    return {
        state = state, token = token, ends = ends, due = due, generation = generation,
        occurrence = occurrence, attempt = attempt, kind = string.sub(packed, HEAD_BYTES + 1),
    }
end
local function pack_row(row)
    return struct.pack(HEAD, row.state, row.token, row.ends, row.due, row.generation,
        row.occurrence, row.attempt) .. row.kind
end
local function visible_at(row)
    if row.state == REPLACED then return math.max(row.due, row.ends) end
    return row.ends
end

-- Each `redis.call` has an overhead as large as its work, so rows are read and written up to a
-- thousand at a time, which is few enough for `unpack`.
local PART = 1000
local function read(hash, fields)
    local values = {}
    for i = 1, #fields, PART do
        local part = redis.call('HMGET', hash, unpack(fields, i, math.min(i + PART - 1, #fields)))
        for j = 1, #part do values[#values + 1] = part[j] end
    end
    return values
end
local function call_with(command, name, arguments)
    for i = 1, #arguments, PART do
        redis.call(command, name, unpack(arguments, i, math.min(i + PART - 1, #arguments)))
    end
end
local function add(list, one, other)
    local length = #list
    list[length + 1] = one
    list[length + 2] = other
end

-- Redis sorts members with the same score as bytes, so they begin with the generation.
local function member(row, key) return struct.pack('>I8', row.generation) .. key end
