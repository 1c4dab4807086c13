-- Appends a batch of events, all or none, in one write. Without events, only says where the stream
-- stands. Numbers between what the writer knows to be stored and its last were passed by the store.
-- KEYS session, stream, streams
-- ARGV name, owner, writer's last ms and number, number known to be stored, upstream id of what
--      was passed, replica, channel prefix, session, maxEvents, eventTtl, sessionTtl,
--      then per event: flags, payload, upstream id
local FIRST, FIELDS = 13, 3
local name, owner = ARGV[1], ARGV[2]
local expected, stored = tonumber(ARGV[4]), tonumber(ARGV[5])
local count = (#ARGV - FIRST + 1) / FIELDS
local state = redis.call('HMGET', KEYS[1], 'o:' .. name, 'l:' .. name, 't:' .. name)

local function newest()
  return redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)[1]
end

local function parts(position)
  local millis, number = string.match(position, '^(%d+)%-(%d+)$')
  return tonumber(millis), tonumber(number)
end

-- Whether an entry is an end that this owner wrote.
local function isOwnEnd(entry)
  for i = 1, #entry[2], 2 do
    if entry[2][i] == 'z' then
      return entry[2][i + 1] == owner
    end
  end
end

local position = state[2]
local ended = false
if state[1] ~= owner then
  -- An attempt that completed the stream, and whose answer was lost, has left this owner there.
  local found = not state[1] and redis.call('EXISTS', KEYS[1]) == 1 and newest()
  if not found or not isOwnEnd(found) then
    return 'FENCED'
  end
  position, ended = found[1], true
elseif not position then
  local found = newest()
  position = found and found[1] or '0-0'
end

local millis, number = parts(position)
if count > 0 and number == expected + count then
  return position -- a retry finds itself
end
-- Only the owner writes, one batch at a time, and the numbers of a later batch are higher. So this
-- one was overtaken: it was held up on a connection that its writer had given up.
if number > expected or (ended and (number <= stored or count == 0)) then
  return 'FENCED'
end

-- A batch without an answer was written, and then passed: whoever reads later must not get it too.
-- One entry at a time, since payloads are large. Removed is it last: for want of memory Redis
-- refuses a script at its first write that takes some, and then nothing may have been done.
local passed = {}
local entry = number > stored and newest()
while entry and select(2, parts(entry[1])) > stored do
  passed[#passed + 1] = entry[1]
  entry = redis.call('XREVRANGE', KEYS[2], '(' .. entry[1], '-', 'COUNT', 1)[1]
end

-- Lower numbers than the writer's are a hole, whether they were passed or Redis has lost them.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local prefix = string.format('%.0f-', math.max(now, millis, tonumber(ARGV[3])))
local last, complete = ARGV[3] .. '-' .. ARGV[4], false
number = expected
for i = FIRST, #ARGV, FIELDS do
  number = number + 1
  last = prefix .. string.format('%.0f', number)
  local flags = ARGV[i]
  if flags == '' then
    redis.call('XADD', KEYS[2], last, 'd', ARGV[i + 1])
  elseif flags == 'u' then
    redis.call('XADD', KEYS[2], last, 'd', ARGV[i + 1], 'u', ARGV[i + 2])
  elseif flags == 'z' then
    redis.call('XADD', KEYS[2], last, 'd', ARGV[i + 1], 'z', owner)
    complete = true
  else
    redis.call('XADD', KEYS[2], last, 'd', ARGV[i + 1], 'u', ARGV[i + 2], 'z', owner)
    complete = true
  end
end
for _, id in ipairs(passed) do
  redis.call('XDEL', KEYS[2], id)
end
redis.call('XTRIM', KEYS[2], 'MAXLEN', '~', ARGV[10])
redis.call('XTRIM', KEYS[2], 'MINID', '~', string.format('%.0f', now - ARGV[11]))
redis.call('PEXPIRE', KEYS[2], ARGV[11])
if complete then
  redis.call('HDEL', KEYS[1],
    'o:' .. name, 'r:' .. name, 'l:' .. name, 't:' .. name, 'd:' .. name, 'u:' .. name)
  redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now)
  redis.call('ZADD', KEYS[3], now + ARGV[11], name)
  redis.call('PEXPIRE', KEYS[3], ARGV[11])
else
  redis.call('HSET', KEYS[1], 'l:' .. name, last)
  if ARGV[6] ~= '' then
    redis.call('HSET', KEYS[1], 'u:' .. name, ARGV[4] .. ' ' .. ARGV[6])
  end
end
redis.call('PEXPIRE', KEYS[1], ARGV[12])
local tail = state[3] and string.match(state[3], '^(%S+)')
if tail and tail ~= ARGV[7] then
  redis.call('PUBLISH', ARGV[8] .. tail, 'wake ' .. ARGV[9] .. ' ' .. name)
end
return last
