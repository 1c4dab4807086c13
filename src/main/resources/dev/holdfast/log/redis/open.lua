-- Opens a stream and records its owner.
-- KEYS session, stream
-- ARGV name, owner, tail (or ''), requests, maxStreams, sessionTtl,
--      stream that keeps the events (or '')
local name, owner, limit = ARGV[1], ARGV[2], tonumber(ARGV[5])
if redis.call('EXISTS', KEYS[1]) == 0 then
  return 'GONE'
end
local current = redis.call('HGET', KEYS[1], 'o:' .. name)
if current == owner then
  return 'OK' -- a retry finds itself
end
if ARGV[7] ~= '' and redis.call('HEXISTS', KEYS[1], 'o:' .. ARGV[7]) == 0 then
  return 'GONE'
end
-- The set's key is not in KEYS, but shares their slot.
if current or redis.call('EXISTS', KEYS[2]) == 1
    or redis.call('ZSCORE', KEYS[1] .. ':ends', name) then
  return 'EXISTS'
end
-- An open stream has at least one field, so only a large hash needs to be counted.
if redis.call('HLEN', KEYS[1]) >= limit then
  local open = 0
  for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
    if string.sub(field, 1, 2) == 'o:' then
      open = open + 1
    end
  end
  if open >= limit then
    return 'LIMIT'
  end
end
redis.call('HSET', KEYS[1], 'o:' .. name, owner, 'r:' .. name, ARGV[4])
if ARGV[3] ~= '' then
  redis.call('HSET', KEYS[1], 't:' .. name, ARGV[3])
end
if ARGV[7] ~= '' then
  redis.call('HSET', KEYS[1], 'i:' .. name, ARGV[7])
end
redis.call('HSETNX', KEYS[1], 'l:' .. name, '0-0')
redis.call('PEXPIRE', KEYS[1], ARGV[6])
return 'OK'
