-- Leases the visible jobs, in order. ARGV from 3 on: duration of the lease in milliseconds, the
-- most jobs, the most bytes of their payloads, the number of jobs that these do not bound (0 or 1),
-- the most runs to begin, the kinds. Returns the present, when the next job is visible (or an empty
-- string), the number of removed rows, and for each job its key, state, body, and 1 if its earlier
-- lease was lost, else 0.

local until_time, max = lease_end(tonumber(ARGV[3])), tonumber(ARGV[4])
local max_bytes, unbounded = tonumber(ARGV[5]), tonumber(ARGV[6])
local max_begun, FIRST_KIND = tonumber(ARGV[7]), 8

-- The visible rows in order, at most `max`: time, generation, member, order of the kind. It reads a
-- part of each kind at first, and more while the next row of the kind may be one of the first.
local function is_before(a, b)
    if a[1] ~= b[1] then return a[1] < b[1] end
    return a[2] < b[2]
end
local function find_visible()
    local found, open = {}, {}
    for i = FIRST_KIND, #ARGV do open[#open + 1] = {order = order_of[ARGV[i]], read = 0} end
    local part = math.min(max, math.ceil(4 * max / #open))
    while #open > 0 do
        for _, kind in ipairs(open) do
            local its = redis.call('ZRANGEBYSCORE', kind.order, '-inf', text(now), 'WITHSCORES',
                'LIMIT', kind.read, part)
            for j = 1, #its, 2 do
                -- The generation as a number, because Lua compares strings by the locale.
                local generation = struct.unpack('>I8', its[j])
                kind.last = {tonumber(its[j + 1]), generation, its[j], kind.order}
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
    return found
end

-- The candidates in order, and the order of the kind of each.
local members, kind_of = {}, {}
if max > 0 and #ARGV == FIRST_KIND then
    local kind = order_of[ARGV[FIRST_KIND]]
    members = redis.call('ZRANGEBYSCORE', kind, '-inf', text(now), 'LIMIT', 0, max)
    for i = 1, #members do kind_of[i] = kind end
elseif max > 0 then
    for i, row in ipairs(find_visible()) do members[i], kind_of[i] = row[3], row[4] end
end

if #members > 0 then first_write(false) end
local keys = {}
for i = 1, #members do keys[i] = string.sub(members[i], 9) end
local packed = read(states, keys)

-- Bodies are read some at a time: a claim may end long before the last key, and each body may be
-- long.
local BODIES = 16
local body_of = {}
local function body(i)
    if body_of[i] == nil then
        local last = math.min(i + BODIES - 1, #keys)
        local part = redis.call('HMGET', bodies, unpack(keys, i, last))
        for j = 1, #part do body_of[i + j - 1] = part[j] end
    end
    return body_of[i]
end

-- A body is the length of the policy, the policy, and the payload. Returns the lengths of both.
local function lengths(of_body)
    if not of_body then return 0, 0 end
    local policy = struct.unpack('>I4', of_body)
    return policy, #of_body - 4 - policy
end

local answer, removed, leased, orders = {'', '', 0}, 0, {}, {}
local jobs, bytes, begins = 0, 0, true
local score = text(until_time)
local NO_ATTEMPT, FIRST_ATTEMPT = struct.pack('>I4', 0), struct.pack('>I4', 1)
for i, key in ipairs(keys) do
    local in_order, kind = members[i], kind_of[i]
    -- Only these fields change: state, token, end of the lease; and the attempt of a begun run.
    local state, token = string.byte(packed[i]), string.sub(packed[i], 2, 9)
    if state == CLOSED then
        redis.call('HDEL', states, key)
        redis.call('HDEL', bodies, key)
        redis.call('ZREM', kind, in_order)
        removed = removed + 1
    else
        local policy, payload = lengths(body(i))
        jobs, bytes = jobs + 1, bytes + payload
        if bytes > max_bytes and jobs > unbounded then break end
        local lost = state ~= REPLACED and token ~= NO_TOKEN
        -- The begun runs are a prefix: the first attempts of pending jobs without a policy.
        begins = begins and jobs <= max_begun and state == PENDING and token == NO_TOKEN
            and string.sub(packed[i], 42, 45) == NO_ATTEMPT and policy == 0
        local row = struct.pack('>BI8I8', begins and BEGUN or PENDING, draw(), until_time)
            .. (begins and string.sub(packed[i], 18, 41) .. FIRST_ATTEMPT
                .. string.sub(packed[i], 46) or string.sub(packed[i], 18))
        add(leased, key, row)
        orders[kind] = orders[kind] or {}
        add(orders[kind], score, in_order)
        add(answer, key, row)
        add(answer, body(i), lost and 1 or 0)
    end
end
call_with('HSET', states, leased)
for kind, its in pairs(orders) do call_with('ZADD', kind, its) end
keep_drawn()

local first
for i = FIRST_KIND, #ARGV do
    local score = redis.call('ZRANGE', order_of[ARGV[i]], 0, 0, 'WITHSCORES')[2]
    if score then first = math.min(first or LAST_TIME, tonumber(score)) end
end
answer[1], answer[2], answer[3] = text(now), first and text(first) or '', removed
return answer
