-- Replaces a value of a session that has not expired, if it is the expected one.
-- KEYS session
-- ARGV field, '+' and the expected value ('' for none), '+' and the new value ('' for none)
-- Returns 1 if it was replaced, else 0.
local function optional(argument)
  return argument ~= '' and string.sub(argument, 2)
end
local expected, value = optional(ARGV[2]), optional(ARGV[3])
if not is_alive(KEYS[1]) or redis.call('HGET', KEYS[1], ARGV[1]) ~= expected then
  return 0
end
if value then
  redis.call('HSET', KEYS[1], ARGV[1], value)
else
  redis.call('HDEL', KEYS[1], ARGV[1])
end
return 1
