-- Leases what is visible, in order. ARGV from 3 on: length of the lease in milliseconds, how many
-- jobs at most, the kinds. Answers: the present, when the first is visible then or nothing, how
-- many rows were removed, and of each job key, state and body.

local until_time, max = later(tonumber(ARGV[3])), tonumber(ARGV[4])

-- Candidates of all kinds: each kind's come in order, several kinds' are sorted.
local found = {}
if max > 0 then
    for i = 5, #ARGV do
        local kind = order .. ARGV[i]
        local members =
            redis.call('ZRANGEBYSCORE', kind, '-inf', text(now), 'WITHSCORES', 'LIMIT', 0, max)
        for j = 1, #members, 2 do
            -- The generation as a number: Lua compares strings as the locale does.
            local generation = struct.unpack('>I8', members[j])
            found[#found + 1] = {tonumber(members[j + 1]), generation, members[j], kind}
        end
    end
    if #ARGV > 5 then
        table.sort(found, function(a, b)
            if a[1] ~= b[1] then return a[1] < b[1] end
            return a[2] < b[2]
        end)
    end
end

local answer, removed = {'', '', 0}, 0
for i = 1, math.min(#found, max) do
    local in_order, kind = found[i][3], found[i][4]
    local key = string.sub(in_order, 9)
    local row = unpack_row(redis.call('HGET', states, key))
    if row.state == CLOSED then
        redis.call('HDEL', states, key)
        redis.call('HDEL', bodies, key)
        redis.call('ZREM', kind, in_order)
        removed = removed + 1
    else
        row.state, row.token, row.ends = LEASED, struct.pack('>I8', draw()), until_time
        row.attempt = row.attempt + 1
        local packed = pack_row(row)
        redis.call('HSET', states, key, packed)
        redis.call('ZADD', kind, text(until_time), in_order)
        answer[#answer + 1] = key
        answer[#answer + 1] = packed
        answer[#answer + 1] = redis.call('HGET', bodies, key)
    end
end
keep_drawn()

local first
for i = 5, #ARGV do
    local score = redis.call('ZRANGE', order .. ARGV[i], 0, 0, 'WITHSCORES')[2]
    if score then first = math.min(first or LAST_TIME, tonumber(score)) end
end
answer[1], answer[2], answer[3] = text(now), first and text(first) or '', removed
return answer
