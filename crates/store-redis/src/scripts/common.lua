-- The common beginning of all scripts. Lua's numbers are exact up to 2^53, and Redis passes all of
-- their digits to commands.
--
-- Most of the time of a call is overhead: of Lua, of each command, and of each function, because
-- every call creates it again. So the scripts define few functions, and pass all rows to one
-- command: at most 512, which `unpack` allows.
--
-- KEYS: 1 meta, 2 states, 3 bodies, 4 dead letters, 5 their order, 6 kinds, 7 prefix of the orders
-- (the channel), then the orders of the kinds that the script may touch
-- ARGV: 1 epoch, 2 time in milliseconds to use instead of the server's clock, or an empty string
local meta, states, bodies, dead, dead_order, kinds, order = unpack(KEYS, 1, 7)

local epoch, last = unpack(redis.call('HMGET', meta, 'epoch', 'last'))
if epoch ~= ARGV[1] then
    return redis.error_reply('EPOCH the data are not those of before')
end

-- kind -> its order. A script touches no key that is not in KEYS. If it needs the order of another
-- kind, it fails before its first write. Then the caller reads all kinds and repeats the call.
local order_of = {}
for i = 8, #KEYS do order_of[string.sub(KEYS[i], #order + 1)] = KEYS[i] end
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
-- the data were lost or restored from an old copy. A script that draws writes it to `meta`.
last = math.max(last or 0, micros)

local LAST_TIME = 9007199254740991

-- A row's state: one of these numbers, token, end of the lease (in a pending row, when it is
-- visible), due, generation, occurrence, attempt, kind. A pending row with a token is leased, and
-- its run has not begun. The fields begin at the bytes 1, 2, 10, 18, 26, 34, 42 and 46, by which
-- scripts copy those that stay as they are. A member of an order is the generation and the key:
-- Redis sorts members with the same score as bytes.
local PENDING, BEGUN, CLOSED, REPLACED = 0, 1, 2, 3
local NO_TOKEN = '\0\0\0\0\0\0\0\0'
