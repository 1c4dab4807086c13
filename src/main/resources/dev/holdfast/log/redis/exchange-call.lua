-- Adds, replaces or removes the entry of a call, if it is the expected one. A retry succeeds.
-- KEYS entry
-- ARGV expected entry ('' for none), next entry ('' to remove it), time to live in ms (0 to keep it)
-- Returns the entry before ('' for none): the expected one if the entry is the next one now.
local current = redis.call('GET', KEYS[1]) or ''
if current == ARGV[2] then
  return ARGV[1]
end
if current == ARGV[1] then
  if ARGV[2] == '' then
    redis.call('DEL', KEYS[1])
  elseif ARGV[3] == '0' then
    redis.call('SET', KEYS[1], ARGV[2], 'KEEPTTL')
  else
    redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
  end
end
return current
