-- Carries out changes, in order and atomically. The keys are those of the changes; the generation
-- for a change of a dead letter. ARGV from FIRST on: whether the batch has new jobs (0, 1, or 2 if
-- it also changes dead letters), and for each change its head; then the body of a new job if it is
-- for `bodies`, else an empty string, or the reason of a burial. A head is the number of the
-- change, the token of the lease, a sign, a number, and the end of a new row from the occurrence
-- on. With the sign 1 the number is a date, with 2 a delay. Returns a letter for each.

-- Those from BEGIN on are by token.
local PUT, REPLACE, REVIVE, FORGET, MOVE, CANCEL, BEGIN, ACK, RETRY, RELEASE, EXTEND, BURY =
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
local DONE, REPLACES, CANCELLED, RUNNING = 'D', 'R', 'C', 'U'
local ABSENT, SUPERSEDED, DUPLICATE, ENDED = 'A', 'S', 'E', 'L'
-- A dead letter: the lengths of row, key and reason, the time, then row, key, reason, and the body
-- if it is not in the row.
local DEAD, DEAD_BYTES = '>I4I4I4I8', 20

-- The rows are changed one by one in `row_of`, and written at once. The key of a dead letter is not
-- known yet; its generation may be the key of another row.
local row_of, body_of, orders, count = {}, {}, {}, #keys
for i, row in ipairs(rows) do
    if row then
        orders[i] = order_of[sub(row, 48, 47 + byte(row, 47))]
        if not orders[i] then return redis.error_reply(UNKNOWN_KINDS) end
    end
end

-- A full server refuses a script only at its first write, and only if that write needs memory. Jobs
-- must be able to begin and end, or the server stays full. So the first write of a batch needs
-- memory if the batch has new jobs, and otherwise none.
local has_new, first_draw = ARGV[FIRST] ~= '0', last
if ARGV[FIRST] == '2' then
    for _, kind in ipairs(redis.call('SMEMBERS', kinds)) do
        if not order_of[kind] then return redis.error_reply(UNKNOWN_KINDS) end
    end
    redis.call('HSETNX', jobs, '', '')
end

local answers, arguments_read = {}, FIRST
for i = 1, count do
    arguments_read = arguments_read + 1
    local key, head = keys[i], ARGV[arguments_read]
    local change, token, sign = byte(head), sub(head, 2, 9), byte(head, 10)
    local old, text, new, revived = rows[i], nil, nil, nil
    if change <= REPLACE or change == BURY then
        arguments_read = arguments_read + 1
        text = ARGV[arguments_read]
    elseif change == REVIVE then
        local letter = redis.call('HGET', dead, key)
        if letter then
            local its_row, its_key, its_reason = read(DEAD, letter)
            local from = DEAD_BYTES + its_row + 1
            change, revived, key = PUT, key, sub(letter, from, from + its_key - 1)
            new = sub(letter, DEAD_BYTES + 38, from - 1)
            text = sub(letter, from + its_key + its_reason)
            old = redis.call('HGET', jobs, key)
            count = count + 1
            keys[count], rows[count] = key, old
            orders[count] = old and order_of[sub(old, 48, 47 + byte(old, 47))]
        end
    end
    -- A delay is added to the present rounded up. After no delay, the present rounded down is not
    -- early.
    local at = sign ~= 0 and read('>I8', head, 11)
    if sign == 2 then at = at == 0 and now or math.min(now_up + at, LAST_TIME) end
    local row, answer = row_of[key], DONE
    if row == nil then row = old end
    local state = row and byte(row)
    if change <= REPLACE then
        if state and state ~= CLOSED then answer = change == PUT and DUPLICATE or REPLACES end
        if answer ~= DUPLICATE then
            last = last + 1
            new = new or sub(head, 19)
            if state and state ~= PENDING then
                row = pack('B', REPLACED) .. sub(row, 2, 9) .. NO_ATTEMPT .. sub(row, 14, 21)
                    .. pack('>I8I8', at, last) .. new
            else
                row = NEW .. pack('>I8I8I8', at, at, last) .. new
            end
            body_of[key] = text ~= '' and text
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
            row = FREE .. sub(row, 10, 13) .. pack('>I8I8', at, at) .. sub(row, 30)
        elseif state == REPLACED then
            row = sub(row, 1, 21) .. pack('>I8', at) .. sub(row, 30)
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
            row = pack('B', BEGUN) .. sub(row, 2, 9) .. pack('>I4', read('>I4', row, 10) + 1)
                .. sub(row, 14)
        elseif state ~= BEGUN then
            answer = ENDED
        end
    elseif change == EXTEND then
        at = math.min(now_up + at, LAST_TIME)
        row = sub(row, 1, 13) .. pack('>I8', at) .. sub(row, 22)
        if state >= CLOSED then answer = ENDED end
    elseif state >= CLOSED then
        -- The run ends. A replaced row becomes pending with the newer generation.
        row = state == REPLACED and NEW .. sub(row, 22, 29) .. sub(row, 22)
        if change ~= ACK then answer = ENDED end
    elseif change == ACK then
        row = sign ~= 0 and NEW .. pack('>I8I8', at, at) .. sub(row, 30, 37)
            .. sub(head, 19, 26) .. sub(row, 46)
    elseif change == BURY then
        if not has_new then redis.call('HDEL', bodies, '') end
        local generation = string.format('%.0f', read('>I8', row, 30))
        row = FREE .. sub(row, 10, 13) .. sub(row, 22, 29) .. sub(row, 22)
        local body = byte(row, 46) == IN_BODIES and redis.call('HGET', bodies, key) or ''
        redis.call('HSET', dead, generation,
            pack(DEAD, #row, #key, #text, now) .. row .. key .. text .. body)
        redis.call('ZADD', dead_order, generation, generation)
        row = false
    else
        local attempt = read('>I4', row, 10)
        if change == RELEASE and state == BEGUN then attempt = math.max(attempt - 1, 0) end
        row = FREE .. pack('>I4I8', attempt, at) .. sub(row, 22)
    end
    row_of[key] = row
    answers[i] = answer
end

-- A replaced row is visible when it is due, and otherwise at the end of its lease.
local function visible_at(row)
    local at = read('>I8', row, 14)
    if byte(row) == REPLACED then at = math.max(at, (read('>I8', row, 22))) end
    return at
end

local set, set_bodies, gone, gone_bodies, put_in, removed_from = {}, {}, {}, {}, {}, {}
if last > first_draw then set = {'', pack('>I8', last) .. ARGV[1]} end
local sets, removals = #set, 0
local score, score_text
for i = 1, count do
    local key, old = keys[i], rows[i]
    local row = row_of[key]
    -- A key that is named twice is written once.
    row_of[key] = nil
    if row ~= nil and row ~= old then
        local generation = row and sub(row, 30, 37)
        local is_moved = not old or generation ~= sub(old, 30, 37)
        if old and is_moved then
            local list = removed_from[orders[i]] or {}
            removed_from[orders[i]] = list
            list[#list + 1] = sub(old, 30, 37) .. key
            if byte(old, 46) == IN_BODIES then gone_bodies[#gone_bodies + 1] = key end
        end
        if row then
            local its, at = order_of[sub(row, 48, 47 + byte(row, 47))], visible_at(row)
            local before = old and orders[i] == its and visible_at(old) or math.huge
            if is_moved or at ~= before then
                -- Formatting takes long, and the jobs of a batch are often due together.
                if at ~= score then score, score_text = at, string.format('%.0f', at) end
                local list = put_in[its] or {length = 0, first = math.huge}
                put_in[its] = list
                local length = list.length
                list[length + 1], list[length + 2] = score_text, generation .. key
                list.length = length + 2
                if at < before and at < list.first then
                    list.first, list.first_text = at, score_text
                end
            end
            if body_of[key] then
                set_bodies[#set_bodies + 1] = key
                set_bodies[#set_bodies + 1] = body_of[key]
            end
            set[sets + 1], set[sets + 2], sets = key, row, sets + 2
        else
            removals = removals + 1
            gone[removals] = key
        end
    end
end
if sets > 0 then
    if not has_new then redis.call('HDEL', bodies, '') end
    redis.call('HSET', jobs, unpack(set))
end
if removals > 0 then redis.call('HDEL', jobs, unpack(gone)) end
if #gone_bodies > 0 then redis.call('HDEL', bodies, unpack(gone_bodies)) end
if #set_bodies > 0 then redis.call('HSET', bodies, unpack(set_bodies)) end
-- Waiting programs know when the first row of a kind is visible, or an earlier time.
local is_earlier = false
for its, list in pairs(put_in) do
    if list.first_text and redis.call('ZCOUNT', its, '-inf', list.first_text) == 0 then
        redis.call('SADD', kinds, sub(its, #order + 1))
        is_earlier = true
    end
    redis.call('ZADD', its, unpack(list, 1, list.length))
end
for its, list in pairs(removed_from) do redis.call('ZREM', its, unpack(list)) end
if is_earlier then redis.call('PUBLISH', order, '') end
return table.concat(answers)
