-- Carries out changes, in order and atomically. ARGV: 3 whether the batch has new jobs (0 or 1).
-- From 4 on, for each change: a letter, its key, and its other arguments. Returns a letter for
-- each.

local has_new, FIRST_CHANGE = ARGV[3] == '1', 4
local DONE, REPLACES, CANCELLED, RUNNING = 'D', 'R', 'C', 'U'
local ABSENT, SUPERSEDED, DUPLICATE, ENDED = 'A', 'S', 'E', 'L'

-- The rows of all changes are read at once, changed one by one in these tables, and written at
-- once.
-- key -> `row`, nil if there is none; `old`, the row that the server has, and when it is visible;
-- `body`, if it is new.
local entries, changed = {}, {}
local function add_entry(key, packed)
    local row = packed and unpack_row(packed) or nil
    local entry = {
        row = row, old = row, was_visible_at = row and visible_at(row),
        -- Named here so that the table has room for them.
        body = nil, is_changed = nil,
    }
    entries[key] = entry
    return entry
end

local function find(key)
    local entry = entries[key] or add_entry(key, redis.call('HGET', states, key))
    return entry.row
end

local function write(key, row)
    local entry = entries[key]
    entry.row = row
    if not entry.is_changed then changed[#changed + 1] = key end
    entry.is_changed = true
end

local function remove(key) write(key, nil) end

local function schedule(key, kind, due, replace, occurrence, body)
    local row = find(key)
    local answer = DONE
    if row and row.state ~= CLOSED then
        if not replace then return DUPLICATE end
        answer = REPLACES
    end
    first_write(has_new)
    local new = {
        state = PENDING, token = NO_TOKEN, ends = due, due = due, generation = draw(),
        occurrence = occurrence, attempt = 0, kind = kind,
    }
    if row and row.state ~= PENDING then
        new.state, new.token, new.ends = REPLACED, row.token, row.ends
    end
    write(key, new)
    entries[key].body = body
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
        remove(key)
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

-- Returns true if the token is that of the row's lease.
local function has_lease(row, token) return row.token ~= NO_TOKEN and row.token == token end

-- Ends a run. A replaced row becomes pending with the newer generation; any other row is removed.
local function finish(key, row)
    if row.state == REPLACED then
        row.state, row.token, row.ends = PENDING, NO_TOKEN, row.due
        write(key, row)
    else
        remove(key)
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
    row.ends = lease_end(visibility)
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
    local body = entries[key].body or redis.call('HGET', bodies, key)
    remove(key)
    row.state, row.token, row.ends = PENDING, NO_TOKEN, row.due
    local state, generation = pack_row(row), text(row.generation)
    local letter = struct.pack(DEAD, #state, #key, #reason, now) .. state .. key .. reason .. body
    redis.call('HSET', dead, generation, letter)
    redis.call('ZADD', dead_order, generation, generation)
    return DONE
end

local function forget(generation)
    first_write(has_new)
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

-- The number of arguments of each change after its letter.
local ARGUMENTS = {P = 5, M = 2, C = 1, s = 2, a = 4, r = 4, e = 3, b = 3, V = 2, F = 1}

-- A time: `+` and a delay, `@` and a date, or an empty string. The last one is kept, as for `text`.
local last_argument, last_time
local function time(argument)
    if argument ~= last_argument then
        local number = tonumber(string.sub(argument, 2))
        last_argument = argument
        last_time = string.sub(argument, 1, 1) == '+' and later(number) or number
    end
    return last_time
end

-- Changes of an existing row, and the index of their first argument. Those with a lowercase letter
-- are by token, which is their first argument.
local changes = {
    M = function(key, row, i) return move(key, row, time(ARGV[i])) end,
    C = cancel,
    s = start,
    a = function(key, row, i) return ack(key, row, time(ARGV[i + 1]), ARGV[i + 2]) end,
    r = function(key, row, i)
        return retry(key, row, time(ARGV[i + 1]), tonumber(ARGV[i + 2]))
    end,
    e = function(key, row, i) return extend(key, row, tonumber(ARGV[i + 1])) end,
    b = function(key, row, i) return bury(key, row, ARGV[i + 1]) end,
}
local by_token = {s = true, a = true, r = true, e = true, b = true}

local function change(letter, key, i)
    if letter == 'P' then
        local kind, due, replace = ARGV[i], time(ARGV[i + 1]), ARGV[i + 2] == '1'
        return schedule(key, kind, due, replace, NO_TOKEN, ARGV[i + 3])
    elseif letter == 'V' then
        return revive(key, time(ARGV[i]))
    elseif letter == 'F' then
        return forget(key)
    end
    local row = find(key)
    if not row then return ABSENT end
    if by_token[letter] and not has_lease(row, ARGV[i]) then return SUPERSEDED end
    first_write(has_new)
    return changes[letter](key, row, i)
end

-- Returns true if KEYS has the order of each row. The key of a dead letter is not known yet.
local function read_rows()
    local keys, i, revives = {}, FIRST_CHANGE, false
    while i < #ARGV do
        local letter = ARGV[i]
        revives = revives or letter == 'V'
        if letter ~= 'V' and letter ~= 'F' then keys[#keys + 1] = ARGV[i + 1] end
        i = i + 1 + ARGUMENTS[letter]
    end
    local packed = read(states, keys)
    for j, key in ipairs(keys) do
        local row = add_entry(key, packed[j]).row
        if row and not order_of[row.kind] then return false end
    end
    return not revives or knows_all_kinds()
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

local function list_of(lists, name)
    local list = lists[name] or {}
    lists[name] = list
    return list
end

local function write_rows()
    local set, set_bodies, gone, put_in, removed_from = {}, {}, {}, {}, {}
    for _, key in ipairs(changed) do
        local entry = entries[key]
        local row, old = entry.row, entry.old
        if old and row ~= old then
            local list = list_of(removed_from, order_of[old.kind])
            list[#list + 1] = member(old, key)
            if not row then gone[#gone + 1] = key end
        end
        if row then
            add(set, key, pack_row(row))
            if entry.body then add(set_bodies, key, entry.body) end
            local at = visible_at(row)
            if row ~= old or at ~= entry.was_visible_at then
                local first = first_of(row.kind)
                if first < 0 or at < first then earlier = true end
                add(list_of(put_in, order_of[row.kind]), text(at), member(row, key))
            end
        end
    end
    call_with('HSET', bodies, set_bodies)
    call_with('HSET', states, set)
    for name, list in pairs(put_in) do call_with('ZADD', name, list) end
    for name, list in pairs(removed_from) do call_with('ZREM', name, list) end
    call_with('HDEL', states, gone)
    call_with('HDEL', bodies, gone)
end

if not read_rows() then return redis.error_reply(UNKNOWN_KINDS) end
local answers, i = {}, FIRST_CHANGE
while i < #ARGV do
    local letter = ARGV[i]
    answers[#answers + 1] = change(letter, ARGV[i + 1], i + 2)
    i = i + 1 + ARGUMENTS[letter]
end
write_rows()
keep_drawn()
if earlier then redis.call('PUBLISH', order, '') end
return table.concat(answers)
