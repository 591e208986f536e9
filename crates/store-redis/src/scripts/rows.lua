-- Returns the rows of the keys, and the bodies that are not in the rows; nil where there is none.
local its_bodies = {}
for i, row in ipairs(rows) do
    its_bodies[i] = row and byte(row, 46) == IN_BODIES and redis.call('HGET', bodies, keys[i])
end
return {rows, its_bodies}
