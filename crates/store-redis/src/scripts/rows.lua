-- Returns the row of each key, with its body; nil for a missing row.
for i, key in ipairs(keys) do rows[i] = rows[i] and whole(rows[i], key) end
return rows
