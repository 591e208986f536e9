-- Leases the visible jobs, in order. ARGV from 3 on: duration of the lease in milliseconds, the
-- most jobs, the most bytes of their payloads, the number of jobs that these do not bound (0 or 1),
-- the kinds. Returns the present, when the next job is visible (or an empty string), the
-- number of removed rows, and for each job its key, state, body, and 1 if its earlier lease was
-- lost, else 0.

local until_time, max = later(tonumber(ARGV[3])), tonumber(ARGV[4])
local max_bytes, unbounded = tonumber(ARGV[5]), tonumber(ARGV[6])

-- Candidates of all kinds. Those of one kind are in order; those of several kinds are sorted.
local found = {}
if max > 0 then
    for i = 7, #ARGV do
        local kind = order_of[ARGV[i]]
        local members =
            redis.call('ZRANGEBYSCORE', kind, '-inf', text(now), 'WITHSCORES', 'LIMIT', 0, max)
        for j = 1, #members, 2 do
            -- The generation as a number, because Lua compares strings by the locale.
            local generation = struct.unpack('>I8', members[j])
            found[#found + 1] = {tonumber(members[j + 1]), generation, members[j], kind}
        end
    end
    if #ARGV > 7 then
        table.sort(found, function(a, b)
            if a[1] ~= b[1] then return a[1] < b[1] end
            return a[2] < b[2]
        end)
    end
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
local function write(command, name, pairs_of_it)
    for i = 1, #pairs_of_it, PART do
        redis.call(command, name, unpack(pairs_of_it, i, math.min(i + PART - 1, #pairs_of_it)))
    end
end

local function add(list, one, other)
    local length = #list
    list[length + 1] = one
    list[length + 2] = other
end

if #found > 0 then needs_no_room() end
local keys = {}
for i = 1, math.min(#found, max) do keys[i] = string.sub(found[i][3], 9) end
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

-- A body is the length of the policy, the policy, and the payload.
local function payload_bytes(of_body)
    return of_body and #of_body - 4 - struct.unpack('>I4', of_body) or 0
end

local answer, removed, leased, orders = {'', '', 0}, 0, {}, {}
local jobs, bytes = 0, 0
for i, key in ipairs(keys) do
    local in_order, kind = found[i][3], found[i][4]
    local row = unpack_row(packed[i])
    if row.state == CLOSED then
        redis.call('HDEL', states, key)
        redis.call('HDEL', bodies, key)
        redis.call('ZREM', kind, in_order)
        removed = removed + 1
    else
        jobs, bytes = jobs + 1, bytes + payload_bytes(body(i))
        if bytes > max_bytes and jobs > unbounded then break end
        local lost = row.state ~= REPLACED and row.token ~= NO_TOKEN
        row.state, row.token, row.ends = PENDING, struct.pack('>I8', draw()), until_time
        local state = pack_row(row)
        add(leased, key, state)
        orders[kind] = orders[kind] or {}
        add(orders[kind], text(until_time), in_order)
        add(answer, key, state)
        add(answer, body(i), lost and 1 or 0)
    end
end
write('HSET', states, leased)
for kind, its in pairs(orders) do write('ZADD', kind, its) end
keep_drawn()

local first
for i = 7, #ARGV do
    local score = redis.call('ZRANGE', order_of[ARGV[i]], 0, 0, 'WITHSCORES')[2]
    if score then first = math.min(first or LAST_TIME, tonumber(score)) end
end
answer[1], answer[2], answer[3] = text(now), first and text(first) or '', removed
return answer
