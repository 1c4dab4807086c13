-- Opens a stream in the name of the replica that owns another, and puts the request that it is to
-- answer into the inbox for it: both or neither. Comes after opening.lua.
-- KEYS session, stream, inbox
-- ARGV name, fence, tail, requests, maxStreams, sessionTtl, home stream, message, channel prefix,
--      session, most entries, most bytes, stream that keeps the events (or '')
local name, fence = ARGV[1], ARGV[2]
local said = found(name, fence, ARGV[13])
if said then
  return said
end
local home = redis.call('HGET', KEYS[1], 'o:' .. ARGV[7])
local replica = home and string.match(home, '^(%S+)')
if not replica then
  return 'HOMELESS'
end
if hasOpen(tonumber(ARGV[5])) then
  return 'LIMIT'
end
local entries = redis.call('XLEN', KEYS[3])
-- What is left of an inbox that has expired counts for nothing.
local bytes = entries > 0 and tonumber(redis.call('HGET', KEYS[1], 'in')) or 0
local full = entries >= tonumber(ARGV[11]) or bytes >= tonumber(ARGV[12])
if not full then
  local owner = replica .. ' ' .. fence
  -- The largest first: for want of memory Redis refuses a script at its first write only.
  redis.call('XADD', KEYS[3], '*', 's', name, 'd', ARGV[8], 'o', owner)
  redis.call('PEXPIRE', KEYS[3], ARGV[6])
  redis.call('HSET', KEYS[1],
    'o:' .. name, owner, 'r:' .. name, ARGV[4], 'l:' .. name, '0-0', 'in', bytes + #ARGV[8])
  if ARGV[13] == '' then
    redis.call('HSET', KEYS[1], 't:' .. name, ARGV[3])
  else
    redis.call('HSET', KEYS[1], 'i:' .. name, ARGV[13])
  end
  redis.call('PEXPIRE', KEYS[1], ARGV[6])
end
-- Also when it is full: perhaps the owner has not heard of what is there.
redis.call('PUBLISH', ARGV[9] .. replica, 'in ' .. ARGV[10])
return full and 'FULL' or 'OK'
