-- The common beginning of all scripts. Lua's numbers are exact up to 2^53, and Redis passes all of
-- their digits to commands.
--
-- Most of the time of a call is overhead: of Lua, of each command, and of each function, because
-- every call creates it again. So the scripts define few functions, call few commands, and pass all
-- rows to one command: at most 512, which `unpack` allows.
--
-- KEYS: 1 jobs, 2 bodies, 3 dead letters, 4 their order, 5 kinds, 6 prefix of the orders (the
-- channel), then the orders of the kinds that the script may touch
-- ARGV: 1 epoch, 2 time in milliseconds to use instead of the server's clock, or an empty string,
-- 3 the number of keys whose rows are read, these keys, and from FIRST on what each script needs
local jobs, bodies, dead, dead_order, kinds, order = unpack(KEYS, 1, 6)
local pack, read, sub, byte = struct.pack, struct.unpack, string.sub, string.byte
local FIRST = 4 + ARGV[3]

-- The empty key has the last number drawn and the epoch, so that one command reads and one writes
-- them together with the rows.
local keys = {unpack(ARGV, 4, FIRST - 1)}
local rows = redis.call('HMGET', jobs, '', unpack(keys))
local drawn = table.remove(rows, 1)
if not drawn or sub(drawn, 9) ~= ARGV[1] then
    return redis.error_reply('EPOCH the data are not those of before')
end

-- kind -> its order. A script touches no key that is not in KEYS. If it needs the order of another
-- kind, it fails before its first write. Then the caller reads all kinds and repeats the call.
local order_of = {}
for i = 7, #KEYS do order_of[sub(KEYS[i], #order + 1)] = KEYS[i] end
local UNKNOWN_KINDS = 'KINDS the queue has kinds that the call does not name'

-- The present in milliseconds, rounded down and up, and in microseconds.
local now, now_up, micros
if ARGV[2] == '' then
    local time = redis.call('TIME')
    micros = time[1] * 1000000 + time[2]
    now, now_up = math.floor(micros / 1000), math.ceil(micros / 1000)
else
    now = tonumber(ARGV[2])
    now_up, micros = now, now * 1000
end

-- The last number drawn. From the clock's microseconds, so that no number is drawn again even if
-- the data were lost or restored from an old copy. A script that draws writes it. If the clock is
-- beyond the year 2255, 2^40 exact numbers are left.
local last = math.max(read('>I8', drawn), math.min(micros, 2^53 - 2^40))

local LAST_TIME = 9007199254740991

-- A row: its state (one of these numbers), token, attempt, end of the lease (in a pending row, when
-- it is visible), due, generation, occurrence, whether its body is in `bodies` (0 or 1), length of
-- the kind, kind, body. A pending row with a token is leased, and its run has not begun. The fields
-- begin at the bytes 1, 2, 10, 14, 22, 30, 38, 46, 47 and 48, by which scripts copy those that stay
-- as they are. A member of an order is the generation and the key: Redis sorts members with the
-- same score as bytes.
--
-- A body is the length of the policy, the policy, and the payload. A long one is in `bodies`, so
-- changes of its row do not write it again, and it is no part of another string: Lua hashes each
-- byte of each string that it makes.
local PENDING, BEGUN, CLOSED, REPLACED = 0, 1, 2, 3
local NO_TOKEN, NO_ATTEMPT = '\0\0\0\0\0\0\0\0', '\0\0\0\0'
-- The first fields of a pending row without a lease.
local FREE = '\0' .. NO_TOKEN
local NEW = FREE .. NO_ATTEMPT
local IN_BODIES = 1
