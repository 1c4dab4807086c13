-- Appends a batch of events of one stream to the stream that keeps them, all or none, in one write.
-- The writer counts the events of its own stream, by which a retry finds itself; the shared stream
-- counts those of all.
-- KEYS session, shared stream, ends
-- ARGV name, owner, number of the writer's last event, shared stream, replica, channel prefix,
--      session, maxEvents, eventTtl, sessionTtl, then per event: flags, payload, upstream id
local FIRST, FIELDS = 11, 3
local name, owner, shared = ARGV[1], ARGV[2], ARGV[4]
local expected = tonumber(ARGV[3])
local wanted = expected + (#ARGV - FIRST + 1) / FIELDS
local last = string.format('0-%.0f', wanted)
local finish = name .. ' ' .. owner .. ' ' .. last
local state = redis.call('HMGET', KEYS[1],
  'o:' .. name, 'l:' .. name, 'o:' .. shared, 'l:' .. shared, 't:' .. shared)

if state[1] ~= owner then
  -- An attempt that completed the stream, and whose answer was lost, has left this.
  return not state[1] and redis.call('ZSCORE', KEYS[3], finish) and last or 'FENCED'
end
local number = tonumber(string.match(state[2] or '0-0', '%-(%d+)$'))
if number == wanted then
  return last -- a retry finds itself
end
-- Overtaken by a later batch, as in append.lua; or the shared stream is gone, which only a loss of
-- data explains.
if number > expected or not state[3] then
  return 'FENCED'
end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local millis, newest = string.match(state[4] or '0-0', '^(%d+)%-(%d+)$')
local prefix = string.format('%.0f-', math.max(now, tonumber(millis)))
-- What Redis has lost of this stream is a hole in the shared one.
newest = tonumber(newest) + expected - number
local position, moved, complete = false, false, false
number = expected
for i = FIRST, #ARGV, FIELDS do
  number = number + 1
  if ARGV[i + 1] ~= '' then
    newest = newest + 1
    position = prefix .. string.format('%.0f', newest)
    redis.call('XADD', KEYS[2], position, 'd', ARGV[i + 1])
  end
  if string.find(ARGV[i], 'u', 1, true) then
    moved = string.format('%.0f ', number) .. ARGV[i + 2]
  end
  complete = complete or string.find(ARGV[i], 'z', 1, true)
end
if position then
  redis.call('XTRIM', KEYS[2], 'MAXLEN', '~', ARGV[8])
  redis.call('XTRIM', KEYS[2], 'MINID', '~', string.format('%.0f', now - ARGV[9]))
  redis.call('PEXPIRE', KEYS[2], ARGV[9])
  redis.call('HSET', KEYS[1], 'l:' .. shared, position)
end
if complete then
  redis.call('HDEL', KEYS[1], 'o:' .. name, 'r:' .. name, 'l:' .. name, 'i:' .. name, 'u:' .. name)
  redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now)
  -- By the one the retry of this finds itself, by the other that of the opening.
  redis.call('ZADD', KEYS[3], now + ARGV[9], finish, now + ARGV[9], name)
  redis.call('PEXPIRE', KEYS[3], ARGV[9])
else
  redis.call('HSET', KEYS[1], 'l:' .. name, last)
  if moved then
    redis.call('HSET', KEYS[1], 'u:' .. name, moved)
  end
end
redis.call('PEXPIRE', KEYS[1], ARGV[10])
local tail = state[5] and string.match(state[5], '^(%S+)')
if position and tail and tail ~= ARGV[5] then
  redis.call('PUBLISH', ARGV[6] .. tail, 'wake ' .. ARGV[7] .. ' ' .. shared)
end
return last
