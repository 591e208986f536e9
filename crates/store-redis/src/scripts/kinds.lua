-- Returns the name of each kind, and when its first row is visible. Removes kinds without rows,
-- except on a server that refuses writes, such as a replica.
local names, answer = redis.call('SMEMBERS', kinds), {}
for _, kind in ipairs(names) do
    if not order_of[kind] then return redis.error_reply(UNKNOWN_KINDS) end
end
for _, kind in ipairs(names) do
    local first = redis.call('ZRANGE', order_of[kind], 0, 0, 'WITHSCORES')[2]
    if first then
        answer[#answer + 1] = kind
        answer[#answer + 1] = tonumber(first)
    else
        redis.pcall('SREM', kinds, kind)
    end
end
return answer
