-- Carries out changes, in order and atomically. ARGV: 3 whether the batch has new jobs: 0, 1, or 2
-- if it also changes dead letters. From 4 on, for each change: its head, its key (the generation of
-- a dead letter), and the body of a new job or the reason of a burial. A head is the number of the
-- change, the token of the lease, a sign, a number, an occurrence and a kind. With the sign 1 the
-- number is a date, with 2 a delay. Returns a letter for each.

-- Those from BEGIN on are by token.
local PUT, REPLACE, REVIVE, FORGET, MOVE, CANCEL, BEGIN, ACK, RETRY, RELEASE, EXTEND, BURY =
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
local DONE, REPLACES, CANCELLED, RUNNING = 'D', 'R', 'C', 'U'
local ABSENT, SUPERSEDED, DUPLICATE, ENDED = 'A', 'S', 'E', 'L'
local HEAD, HEAD_BYTES = '>Bc8BI8c8', 26
-- A dead letter: the lengths of state, key and reason, the time, then state, key, reason and body.
local DEAD, DEAD_BYTES = '>I4I4I4I8', 20
local pack, read, sub = struct.pack, struct.unpack, string.sub

-- The rows are read at once, changed one by one in `row_of`, and written at once. The key of a dead
-- letter is not known yet; its generation may be the key of another row.
local keys, count = {}, 0
for i = 5, #ARGV, 3 do
    count = count + 1
    keys[count] = ARGV[i]
end
local row_of, old_of, body_of = {}, {}, {}
for i, row in ipairs(redis.call('HMGET', states, unpack(keys))) do
    if row and not order_of[sub(row, 46)] then return redis.error_reply(UNKNOWN_KINDS) end
    row_of[keys[i]], old_of[keys[i]] = row, row
end

-- A full server refuses a script only at its first write, and only if that write needs memory. Jobs
-- must be able to begin and end, or the server stays full. So the first write of a batch needs
-- memory if the batch has new jobs, and otherwise none.
local has_new, first_draw = ARGV[3] ~= '0', last
if ARGV[3] == '2' then
    for _, kind in ipairs(redis.call('SMEMBERS', kinds)) do
        if not order_of[kind] then return redis.error_reply(UNKNOWN_KINDS) end
    end
    redis.call('HSETNX', meta, 'epoch', '')
end

local answers = {}
for i = 4, #ARGV, 3 do
    local change, token, sign, number, occurrence = read(HEAD, ARGV[i])
    local key, body = ARGV[i + 1], ARGV[i + 2]
    local kind, revived = nil, false
    if change == REVIVE then
        local letter = redis.call('HGET', dead, key)
        if letter then
            local its_state, its_key, its_reason = read(DEAD, letter)
            local from = DEAD_BYTES + its_state + 1
            local state = sub(letter, DEAD_BYTES + 1, from - 1)
            occurrence, kind, revived = sub(state, 34, 41), sub(state, 46), key
            key = sub(letter, from, from + its_key - 1)
            body = sub(letter, from + its_key + its_reason)
            change = PUT
            if row_of[key] == nil then
                local row = redis.call('HGET', states, key)
                row_of[key], old_of[key] = row, row
                count = count + 1
                keys[count] = key
            end
        end
    end
    -- A delay is added to the present rounded up. After no delay, the present rounded down is not
    -- early.
    local at = number
    if sign == 2 then at = number == 0 and now or math.min(now_up + number, LAST_TIME) end
    local row, answer = row_of[key], DONE
    local state = row and string.byte(row)
    if change <= REPLACE then
        if state and state ~= CLOSED then answer = change == PUT and DUPLICATE or REPLACES end
        if answer ~= DUPLICATE then
            last = last + 1
            kind = kind or sub(ARGV[i], HEAD_BYTES + 1)
            row = (state and state ~= PENDING and pack('B', REPLACED) .. sub(row, 2, 17)
                or pack('>Bc8I8', PENDING, NO_TOKEN, at))
                .. pack('>I8I8c8I4', at, last, occurrence, 0) .. kind
            body_of[key] = body
            if revived then
                redis.call('ZREM', dead_order, revived)
                redis.call('HDEL', dead, revived)
            end
        end
    elseif change == FORGET then
        redis.call('ZREM', dead_order, key)
        if redis.call('HDEL', dead, key) == 0 then answer = ABSENT end
    elseif not row or change == REVIVE then
        answer = ABSENT
    elseif change >= BEGIN and (token == NO_TOKEN or sub(row, 2, 9) ~= token) then
        answer = SUPERSEDED
    elseif change == MOVE then
        if state == PENDING then
            row = pack('>Bc8I8I8', PENDING, NO_TOKEN, at, at) .. sub(row, 26)
        elseif state == REPLACED then
            row = sub(row, 1, 17) .. pack('>I8', at) .. sub(row, 26)
        else
            answer = RUNNING
        end
    elseif change == CANCEL then
        if state == PENDING then
            row, answer = false, CANCELLED
        else
            row, answer = pack('B', CLOSED) .. sub(row, 2), RUNNING
        end
    elseif change == BEGIN then
        if state == PENDING then
            row = pack('B', BEGUN) .. sub(row, 2, 41) .. pack('>I4', read('>I4', row, 42) + 1)
                .. sub(row, 46)
        elseif state ~= BEGUN then
            answer = ENDED
        end
    elseif change == EXTEND then
        row = sub(row, 1, 9) .. pack('>I8', math.min(now_up + number, LAST_TIME)) .. sub(row, 18)
        if state >= CLOSED then answer = ENDED end
    elseif state >= CLOSED then
        -- The run ends. A replaced row becomes pending with the newer generation.
        row = state == REPLACED
            and pack('>Bc8', PENDING, NO_TOKEN) .. sub(row, 18, 25) .. sub(row, 18)
        if change ~= ACK then answer = ENDED end
    elseif change == ACK then
        row = sign ~= 0 and pack('>Bc8I8I8', PENDING, NO_TOKEN, at, at) .. sub(row, 26, 33)
            .. occurrence .. '\0\0\0\0' .. sub(row, 46)
    elseif change == BURY then
        if not has_new then redis.call('HDEL', meta, '') end
        local generation = string.format('%.0f', read('>I8', row, 26))
        row = pack('>Bc8', PENDING, NO_TOKEN) .. sub(row, 18, 25) .. sub(row, 18)
        local letter = pack(DEAD, #row, #key, #body, now) .. row .. key .. body
            .. redis.call('HGET', bodies, key)
        redis.call('HSET', dead, generation, letter)
        redis.call('ZADD', dead_order, generation, generation)
        row = false
    else
        local attempt = read('>I4', row, 42)
        if change == RELEASE and state == BEGUN then attempt = math.max(attempt - 1, 0) end
        row = pack('>Bc8I8', PENDING, NO_TOKEN, at) .. sub(row, 18, 41) .. pack('>I4', attempt)
            .. sub(row, 46)
    end
    row_of[key] = row
    answers[(i - 1) / 3] = answer
end

local set, set_bodies, gone, put_in, removed_from = {}, {}, {}, {}, {}
local sets, bodies_set, removals = 0, 0, 0
for i = 1, count do
    local key = keys[i]
    local row, old = row_of[key], old_of[key]
    -- A key that is named twice is written once.
    if row ~= old then
        old_of[key] = row
        local is_moved = not old or not row or sub(row, 26, 33) ~= sub(old, 26, 33)
        if old and is_moved then
            local name = order_of[sub(old, 46)]
            local list = removed_from[name] or {}
            removed_from[name] = list
            list[#list + 1] = sub(old, 26, 33) .. key
        end
        if row then
            set[sets + 1], set[sets + 2], sets = key, row, sets + 2
            local body = body_of[key]
            if body then
                set_bodies[bodies_set + 1], set_bodies[bodies_set + 2] = key, body
                bodies_set = bodies_set + 2
            end
            -- A replaced row is visible when it is due, and otherwise at the end of its lease.
            local state = string.byte(row)
            if is_moved or state == REPLACED or string.byte(old) == REPLACED
                or sub(row, 10, 17) ~= sub(old, 10, 17) then
                local at, due = read('>I8I8', row, 10)
                if state == REPLACED then at = math.max(at, due) end
                local kind = sub(row, 46)
                local list = put_in[kind] or {first = at, length = 0}
                put_in[kind] = list
                local length = list.length
                list[length + 1], list[length + 2] = at, sub(row, 26, 33) .. key
                list.length = length + 2
                if at < list.first then list.first = at end
            end
        else
            removals = removals + 1
            gone[removals] = key
        end
    end
end
if bodies_set > 0 then redis.call('HSET', bodies, unpack(set_bodies)) end
if sets > 0 then
    if not has_new then redis.call('HDEL', meta, '') end
    redis.call('HSET', states, unpack(set))
end
-- Waiting programs know when the first row of a kind is visible, or an earlier time.
local is_earlier = false
for kind, list in pairs(put_in) do
    if redis.call('ZCOUNT', order_of[kind], '-inf', list.first) == 0 then
        redis.call('SADD', kinds, kind)
        is_earlier = true
    end
    redis.call('ZADD', order_of[kind], unpack(list, 1, list.length))
end
for name, list in pairs(removed_from) do redis.call('ZREM', name, unpack(list)) end
if removals > 0 then
    redis.call('HDEL', states, unpack(gone))
    redis.call('HDEL', bodies, unpack(gone))
end
if last > first_draw then redis.call('HSET', meta, 'last', last) end
if is_earlier then redis.call('PUBLISH', order, '') end
return table.concat(answers)
