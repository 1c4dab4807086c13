-- Reads the events after a cursor, beginning with the cursor's own event.
-- KEYS session hash, stream
-- ARGV stream, cursor, most events besides the cursor's own, most bytes of their payloads, 'large' to
--      read an event with more bytes
-- Returns 1, the last position if the stream is open (or none), and the events, or none in their
--      place if the next one may be too large; 0 when there is no such session.
local name, cursor = ARGV[1], ARGV[2]
local state = redis.call('HMGET', KEYS[1], OWNER .. name, LAST .. name, 'log')
if not state[3] and redis.call('EXISTS', KEYS[1]) == 0 then
  return { 0 }
end
local last = state[1] and (state[2] or '0-0')
if last == cursor then
  return { 1, last, {} }
end
-- A stream has no size on record until it is reported.
local largest = redis.call('HGET', SIZES, LARGEST .. name)
  or redis.call('MEMORY', 'USAGE', KEYS[2], 'SAMPLES', 0)
local most = math.floor(tonumber(ARGV[4]) / math.max(1, tonumber(largest) or 1))
if most == 0 and ARGV[5] ~= 'large' then
  return { 1, last, false }
end
local count = math.max(1, math.min(most, tonumber(ARGV[3])))
if not string.find(cursor, '%-0$') then
  count = count + 1
end
return { 1, last, redis.call('XRANGE', KEYS[2], cursor, '+', 'COUNT', count) }
