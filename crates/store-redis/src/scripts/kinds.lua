-- Returns the name of each kind, and when its first row is visible. Removes kinds without rows,
-- except on a server that refuses writes, such as a replica.
if not knows_all_kinds() then return redis.error_reply(UNKNOWN_KINDS) end
local answer = {}
for _, kind in ipairs(redis.call('SMEMBERS', kinds)) do
    local score = redis.call('ZRANGE', order_of[kind], 0, 0, 'WITHSCORES')[2]
    if score then
        answer[#answer + 1] = kind
        answer[#answer + 1] = text(tonumber(score))
    else
        redis.pcall('SREM', kinds, kind)
    end
end
return answer
