-- Opens a stream and records its owner. Comes after opening.lua.
-- KEYS session, stream
-- ARGV name, owner, tail (or ''), requests, maxStreams, sessionTtl,
--      stream that keeps the events (or '')
local name, owner = ARGV[1], ARGV[2]
local said = found(name, string.match(owner, '(%S+)$'), ARGV[7])
if said then
  return said
end
if hasOpen(tonumber(ARGV[5])) then
  return 'LIMIT'
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
