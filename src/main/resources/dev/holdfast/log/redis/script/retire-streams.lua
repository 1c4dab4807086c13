-- Shortens the time to live of complete streams that were delivered to their end. The keys of the
-- streams are not in KEYS; they share the slot of the session hash.
-- KEYS session hash, set of complete streams
-- ARGV time to live in ms, then streams
-- Returns 'OK'.
local expiry = currentMillis() + ARGV[1]
local names = { unpack(ARGV, 2) }
local retired = {}
for i, before in ipairs(redis.call('ZMSCORE', KEYS[2], unpack(names))) do
  -- An open stream has no score. ipairs does not stop there: a missing score is false.
  if before and tonumber(before) > expiry then
    redis.call('PEXPIRE', streamKey(names[i]), ARGV[1])
    table.insert(retired, expiry)
    table.insert(retired, names[i])
  end
end
if #retired > 0 then
  redis.call('ZADD', KEYS[2], 'XX', unpack(retired))
end
return 'OK'
