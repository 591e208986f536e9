-- Leases the visible jobs, in order. ARGV from FIRST on: duration of the lease in milliseconds, the
-- most jobs, the most bytes of their payloads, the number of jobs that these do not bound (0 or 1),
-- the most runs to begin, the kinds. Returns the present, when the next job is visible (or false),
-- the number of removed rows, the bodies that are not in the rows, and a list: for each job its
-- key, its row, and 1 if its earlier lease was lost, else 0.

local until_time, max = math.min(now_up + ARGV[FIRST], LAST_TIME), tonumber(ARGV[FIRST + 1])
local max_bytes, unbounded = tonumber(ARGV[FIRST + 2]), tonumber(ARGV[FIRST + 3])
local max_begun, FIRST_KIND = tonumber(ARGV[FIRST + 4]), FIRST + 5

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

local next_time, removed, long_bodies, leased = false, 0, {}, {}
if #members > 0 then
    -- A full server refuses a script only at its first write, and only if that write needs memory.
    redis.call('HDEL', bodies, '')
    for i, member in ipairs(members) do keys[i] = sub(member, 9) end
    rows = redis.call('HMGET', jobs, unpack(keys))
    local count, bytes, begins, until_bytes = 0, 0, true, pack('>I8', until_time)
    local set, scores, score = {}, {}, string.format('%.0f', until_time)
    for i, key in ipairs(keys) do
        local row, its = rows[i], orders and orders[i] or order_of[ARGV[FIRST_KIND]]
        local is_new = sub(row, 1, 13) == NEW
        if byte(row) == CLOSED then
            redis.call('HDEL', jobs, key)
            redis.call('HDEL', bodies, key)
            redis.call('ZREM', its, members[i])
            removed = removed + 1
        else
            local body, from = row, 48 + byte(row, 47)
            if byte(row, 46) == IN_BODIES then body, from = redis.call('HGET', bodies, key), 1 end
            local policy = read('>I4', body, from)
            count, bytes = count + 1, bytes + #body - from - 3 - policy
            if bytes > max_bytes and count > unbounded then break end
            -- The begun runs are a prefix: the first attempts of pending jobs without a policy.
            begins = begins and is_new and policy == 0 and count <= max_begun
            -- Only these fields change: state, token, attempt of a begun run, end of the lease.
            last = last + 1
            local new = (begins and pack('>BI8I4', BEGUN, last, 1)
                or pack('>BI8', PENDING, last) .. sub(row, 10, 13)) .. until_bytes .. sub(row, 22)
            set[2 * count - 1], set[2 * count] = key, new
            local list = scores[its] or {length = 0}
            scores[its] = list
            local length = list.length
            list[length + 1], list[length + 2], list.length = score, members[i], length + 2
            if from == 1 then long_bodies[#long_bodies + 1] = body end
            local at = 3 * count
            leased[at - 2], leased[at - 1] = key, new
            leased[at] = (is_new or byte(row) == REPLACED or sub(row, 2, 9) == NO_TOKEN)
                and 0 or 1
        end
    end
    if #set > 0 then
        redis.call('HSET', jobs, '', pack('>I8', last) .. ARGV[1], unpack(set))
        for its, list in pairs(scores) do redis.call('ZADD', its, unpack(list, 1, list.length)) end
    end
end

for i = FIRST_KIND, #ARGV do
    local first = redis.call('ZRANGE', order_of[ARGV[i]], 0, 0, 'WITHSCORES')[2]
    if first then next_time = math.min(next_time or LAST_TIME, first) end
end
return {now, next_time, removed, long_bodies, leased}
