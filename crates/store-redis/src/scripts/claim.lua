-- Leases the visible jobs, in order. ARGV from 3 on: duration of the lease in milliseconds, the
-- most jobs, the most bytes of their payloads, the number of jobs that these do not bound (0 or 1),
-- the most runs to begin, the kinds. Returns the present, when the next job is visible (or false),
-- the number of removed rows, and for each job its key, state, body, and 1 if its earlier lease was
-- lost, else 0.

local until_time, max = math.min(now_up + ARGV[3], LAST_TIME), tonumber(ARGV[4])
local max_bytes, unbounded = tonumber(ARGV[5]), tonumber(ARGV[6])
local max_begun, FIRST_KIND = tonumber(ARGV[7]), 8
local pack, read, sub = struct.pack, struct.unpack, string.sub

-- The visible members in order, at most `max`, and the order of the kind of each; nil if there is
-- one kind.
local members, orders = {}, nil
if max > 0 and #ARGV == FIRST_KIND then
    local its = order_of[ARGV[FIRST_KIND]]
    members = redis.call('ZRANGEBYSCORE', its, '-inf', now, 'LIMIT', 0, max)
elseif max > 0 then
    -- Reads a part of each kind at first, and more while the next row of the kind may be one of the
    -- first.
    local function is_before(a, b)
        if a[1] ~= b[1] then return a[1] < b[1] end
        return a[2] < b[2]
    end
    local found, open = {}, {}
    for i = FIRST_KIND, #ARGV do open[#open + 1] = {order = order_of[ARGV[i]], read = 0} end
    local part = math.min(max, math.ceil(4 * max / #open))
    while #open > 0 do
        for _, kind in ipairs(open) do
            local its = redis.call('ZRANGEBYSCORE', kind.order, '-inf', now, 'WITHSCORES',
                'LIMIT', kind.read, part)
            for j = 1, #its, 2 do
                -- The generation as a number, because Lua compares strings by the locale.
                kind.last = {tonumber(its[j + 1]), read('>I8', its[j]), its[j], kind.order}
                found[#found + 1] = kind.last
            end
            kind.read = kind.read + #its / 2
            kind.has_more = #its == 2 * part
        end
        table.sort(found, is_before)
        for i = #found, max + 1, -1 do found[i] = nil end
        local rest = {}
        for _, kind in ipairs(open) do
            if kind.has_more and (#found < max or is_before(kind.last, found[max])) then
                rest[#rest + 1] = kind
            end
        end
        open, part = rest, 2 * part
    end
    orders = {}
    for i, row in ipairs(found) do members[i], orders[i] = row[3], row[4] end
end

local answer, removed = {now, false, 0}, 0
if #members > 0 then
    -- A full server refuses a script only at its first write, and only if that write needs memory.
    redis.call('HDEL', meta, '')
    local keys = {}
    for i = 1, #members do keys[i] = sub(members[i], 9) end
    local rows = redis.call('HMGET', states, unpack(keys))
    local BODIES, body_of, bodies_read = 16, {}, 0
    local jobs, bytes, begins, until_bytes = 0, 0, true, pack('>I8', until_time)
    local leased, scores, score = {}, {}, string.format('%.0f', until_time)
    for i, key in ipairs(keys) do
        local row, its = rows[i], orders and orders[i] or order_of[ARGV[FIRST_KIND]]
        -- Only these fields change: state, token, end of the lease; and the attempt of a begun run.
        local state, token = string.byte(row), sub(row, 2, 9)
        if state == CLOSED then
            redis.call('HDEL', states, key)
            redis.call('HDEL', bodies, key)
            redis.call('ZREM', its, members[i])
            removed = removed + 1
        else
            -- Bodies are read some at a time: a claim may end long before the last key, and each
            -- body may be long.
            if i > bodies_read then
                local last_key = math.min(i + BODIES - 1, #keys)
                body_of = redis.call('HMGET', bodies, unpack(keys, i, last_key))
                bodies_read, body_of.before = last_key, i - 1
            end
            -- A body is the length of the policy, the policy, and the payload.
            local body = body_of[i - body_of.before]
            local policy = read('>I4', body)
            jobs, bytes = jobs + 1, bytes + #body - 4 - policy
            if bytes > max_bytes and jobs > unbounded then break end
            -- The begun runs are a prefix: the first attempts of pending jobs without a policy.
            begins = begins and jobs <= max_begun and state == PENDING and token == NO_TOKEN
                and policy == 0 and sub(row, 42, 45) == '\0\0\0\0'
            last = last + 1
            row = pack('>BI8', begins and BEGUN or PENDING, last) .. until_bytes
                .. (begins and sub(row, 18, 41) .. '\0\0\0\1' .. sub(row, 46) or sub(row, 18))
            leased[2 * jobs - 1], leased[2 * jobs] = key, row
            local list = scores[its] or {length = 0}
            scores[its] = list
            local length = list.length
            list[length + 1], list[length + 2], list.length = score, members[i], length + 2
            local at = 4 * jobs
            answer[at], answer[at + 1], answer[at + 2] = key, row, body
            answer[at + 3] = (state == REPLACED or token == NO_TOKEN) and 0 or 1
        end
    end
    if #leased > 0 then
        redis.call('HSET', states, unpack(leased))
        for its, list in pairs(scores) do redis.call('ZADD', its, unpack(list, 1, list.length)) end
        redis.call('HSET', meta, 'last', last)
    end
end

for i = FIRST_KIND, #ARGV do
    local first = redis.call('ZRANGE', order_of[ARGV[i]], 0, 0, 'WITHSCORES')[2]
    if first then answer[2] = math.min(answer[2] or LAST_TIME, first) end
end
answer[3] = removed
return answer
