-- Appends a batch of events, all or none, in one write.
-- KEYS session, stream, streams
-- ARGV name, owner, expected last number, replica, channel prefix, session,
--      maxEvents, eventTtl, sessionTtl, then per event: flags, payload, upstream id
local FIRST, FIELDS = 10, 3
local name, owner, expected = ARGV[1], ARGV[2], tonumber(ARGV[3])
local count = (#ARGV - FIRST + 1) / FIELDS
local state = redis.call('HMGET', KEYS[1], 'o:' .. name, 'l:' .. name, 't:' .. name)

if state[1] ~= owner then
  -- A retry of the batch that completed the stream finds its owner in the last entry.
  if not state[1] and redis.call('EXISTS', KEYS[1]) == 1 then
    local found = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)[1]
    if found and tonumber(string.match(found[1], '%-(%d+)$')) == expected + count then
      for i = 1, #found[2], 2 do
        if found[2][i] == 'z' and found[2][i + 1] == owner then
          return found[1]
        end
      end
    end
  end
  return 'FENCED'
end

local millis, number = string.match(state[2] or '0-0', '^(%d+)%-(%d+)$')
millis, number = tonumber(millis), tonumber(number)
if number ~= expected then
  -- Only the owner writes, one batch at a time: had it been another, it had another number.
  return number == expected + count and state[2] or 'FENCED'
end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local prefix = string.format('%.0f-', math.max(now, millis))
local last, complete
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
redis.call('XTRIM', KEYS[2], 'MAXLEN', '~', ARGV[7])
redis.call('XTRIM', KEYS[2], 'MINID', '~', string.format('%.0f', now - ARGV[8]))
redis.call('PEXPIRE', KEYS[2], ARGV[8])
if complete then
  redis.call('HDEL', KEYS[1],
    'o:' .. name, 'r:' .. name, 'l:' .. name, 't:' .. name, 'd:' .. name, 'u:' .. name)
  redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now)
  redis.call('ZADD', KEYS[3], now + ARGV[8], name)
  redis.call('PEXPIRE', KEYS[3], ARGV[8])
else
  redis.call('HSET', KEYS[1], 'l:' .. name, last)
end
redis.call('PEXPIRE', KEYS[1], ARGV[9])
local tail = state[3] and string.match(state[3], '^(%S+)')
if tail and tail ~= ARGV[4] then
  redis.call('PUBLISH', ARGV[5] .. tail, 'wake ' .. ARGV[6] .. ' ' .. name)
end
return last
