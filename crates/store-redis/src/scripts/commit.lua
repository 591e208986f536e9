-- Carries out changes, in order and atomically. ARGV from 3 on, for each change: a letter, its key,
-- and its other arguments. Returns a letter for each.

local DONE, REPLACES, CANCELLED, RUNNING = 'D', 'R', 'C', 'U'
local ABSENT, SUPERSEDED, DUPLICATE, ENDED = 'A', 'S', 'E', 'L'

if not knows_all_kinds() then return redis.error_reply(UNKNOWN_KINDS) end

local function find(key)
    local packed = redis.call('HGET', states, key)
    return packed and unpack_row(packed)
end

-- When the first row of a kind was visible before this script, or -1 if there was none. Waiting
-- programs know this time or an earlier one.
local firsts, earlier = {}, false
local function first_of(kind)
    if not firsts[kind] then
        local first = redis.call('ZRANGE', order_of[kind], 0, 0, 'WITHSCORES')
        firsts[kind] = first[2] and tonumber(first[2]) or -1
        if firsts[kind] < 0 then redis.call('SADD', kinds, kind) end
    end
    return firsts[kind]
end

local function write(key, row)
    local at = visible_at(row)
    local first = first_of(row.kind)
    if first < 0 or at < first then earlier = true end
    redis.call('HSET', states, key, pack_row(row))
    redis.call('ZADD', order_of[row.kind], text(at), member(row, key))
end

local function remove(key, row)
    redis.call('HDEL', states, key)
    redis.call('HDEL', bodies, key)
    redis.call('ZREM', order_of[row.kind], member(row, key))
end

local function schedule(key, kind, due, replace, occurrence, body)
    local row = find(key)
    local answer = DONE
    if row then
        if row.state ~= CLOSED then
            if not replace then return DUPLICATE end
            answer = REPLACES
        end
        redis.call('ZREM', order_of[row.kind], member(row, key))
    end
    local new = {
        state = PENDING, token = NO_TOKEN, ends = due, due = due, generation = draw(),
        occurrence = occurrence, attempt = 0, kind = kind,
    }
    if row and row.state ~= PENDING then
        new.state, new.token, new.ends = REPLACED, row.token, row.ends
    end
    redis.call('HSET', bodies, key, body)
    write(key, new)
    return answer
end

local function move(key, row, due)
    if row.state == BEGUN or row.state == CLOSED then return RUNNING end
    row.due = due
    if row.state == PENDING then row.ends, row.token = due, NO_TOKEN end
    write(key, row)
    return DONE
end

local function cancel(key, row)
    if row.state == PENDING then
        remove(key, row)
        return CANCELLED
    end
    row.state = CLOSED
    write(key, row)
    return RUNNING
end

local function start(key, row)
    if row.state == PENDING then
        row.state, row.attempt = BEGUN, row.attempt + 1
        write(key, row)
    end
    return row.state == BEGUN and DONE or ENDED
end

-- Returns true if the token is that of the row's lease. If a program of an older version moves a
-- leased row, it leaves the token and sets both times to the same value: then the lease is over.
-- The due time alone is not enough: if the clock has stepped back, a leased row is not due yet. If
-- a lease happens to end exactly at a due time in the future, the job waits for that time.
local function has_lease(row, token)
    local is_moved = row.state == PENDING and row.ends == row.due and row.due > now
    return row.token ~= NO_TOKEN and row.token == token and not is_moved
end

-- Ends a run. A replaced row becomes pending with the newer generation; any other row is removed.
local function finish(key, row)
    if row.state == REPLACED then
        row.state, row.token, row.ends = PENDING, NO_TOKEN, row.due
        write(key, row)
    else
        remove(key, row)
    end
end

local function ack(key, row, due, occurrence)
    if due and (row.state == BEGUN or row.state == PENDING) then
        row.state, row.token, row.ends, row.due = PENDING, NO_TOKEN, due, due
        row.occurrence, row.attempt = occurrence, 0
        write(key, row)
    else
        finish(key, row)
    end
    return DONE
end

local function retry(key, row, at, back)
    if row.state ~= BEGUN and row.state ~= PENDING then
        finish(key, row)
        return ENDED
    end
    if row.state == BEGUN then row.attempt = math.max(row.attempt - back, 0) end
    row.state, row.token, row.ends = PENDING, NO_TOKEN, at
    write(key, row)
    return DONE
end

local function extend(key, row, visibility)
    row.ends = later(visibility)
    write(key, row)
    return (row.state == BEGUN or row.state == PENDING) and DONE or ENDED
end

-- A dead letter: the lengths of state, key and reason, the time, then state, key, reason and body.
local DEAD = '>I4I4I4I8'
local DEAD_BYTES = 20

local function bury(key, row, reason)
    if row.state ~= BEGUN and row.state ~= PENDING then
        finish(key, row)
        return ENDED
    end
    local body = redis.call('HGET', bodies, key)
    remove(key, row)
    row.state, row.token, row.ends = PENDING, NO_TOKEN, row.due
    local state, generation = pack_row(row), text(row.generation)
    local letter = struct.pack(DEAD, #state, #key, #reason, now) .. state .. key .. reason .. body
    redis.call('HSET', dead, generation, letter)
    redis.call('ZADD', dead_order, generation, generation)
    return DONE
end

local function forget(generation)
    redis.call('ZREM', dead_order, generation)
    return redis.call('HDEL', dead, generation) == 1 and DONE or ABSENT
end

local function revive(generation, due)
    local letter = redis.call('HGET', dead, generation)
    if not letter then return ABSENT end
    local states_bytes, key_bytes, reason_bytes = struct.unpack(DEAD, letter)
    local from = DEAD_BYTES + 1
    local row = unpack_row(string.sub(letter, from, from + states_bytes - 1))
    from = from + states_bytes
    local key = string.sub(letter, from, from + key_bytes - 1)
    local body = string.sub(letter, from + key_bytes + reason_bytes)
    local answer = schedule(key, row.kind, due, false, row.occurrence, body)
    if answer ~= DUPLICATE then forget(generation) end
    return answer
end

-- Reads the arguments one by one.
local at = 2
local function next_argument()
    at = at + 1
    return ARGV[at]
end
-- A time: `+` and a delay, `@` and a date, or an empty string.
local function next_time()
    local time = next_argument()
    local number = tonumber(string.sub(time, 2))
    if string.sub(time, 1, 1) == '+' then return later(number) end
    return number
end

-- Changes of an existing row. Each entry reads the arguments and returns a function that carries
-- out the change. Changes with a lowercase letter are by token, which is their first argument.
local changes = {
    M = function() local due = next_time()
        return function(key, row) return move(key, row, due) end end,
    C = function() return cancel end,
    s = function() return start end,
    a = function() local due, occurrence = next_time(), next_argument()
        return function(key, row) return ack(key, row, due, occurrence) end end,
    r = function() local due, back = next_time(), tonumber(next_argument())
        return function(key, row) return retry(key, row, due, back) end end,
    e = function() local visibility = tonumber(next_argument())
        return function(key, row) return extend(key, row, visibility) end end,
    b = function() local reason = next_argument()
        return function(key, row) return bury(key, row, reason) end end,
}

local function change(letter, key)
    if letter == 'P' then
        local kind, due, replace = next_argument(), next_time(), next_argument()
        return schedule(key, kind, due, replace == '1', NO_TOKEN, next_argument())
    elseif letter == 'V' then
        return revive(key, next_time())
    elseif letter == 'F' then
        return forget(key)
    end
    local token = string.find(letter, '%l') and next_argument()
    local carry_out = changes[letter]()
    local row = find(key)
    if not row then return ABSENT end
    if token and not has_lease(row, token) then return SUPERSEDED end
    needs_no_room()
    return carry_out(key, row)
end

local answers = {}
while at < #ARGV do
    answers[#answers + 1] = change(next_argument(), next_argument())
end
keep_drawn()
if earlier then redis.call('PUBLISH', order, '') end
return table.concat(answers)
