-- Assigns a lost replica to the replica that asks, for dead-after: all survivors notice a loss at
-- once, and each of them would adopt the same sessions. The score of the lost replica becomes the
-- negative end of that time. If it is not forgotten by then, another survivor joins the work.
-- KEYS replicas
-- ARGV dead-after (ms), 'left' for a replica that has left
-- Returns a lost replica; nil if there is none, or others adopt all of them.
local now = currentMillis()
local from, to = string.format('-%.0f', now), string.format('(%.0f', now - ARGV[1])
if ARGV[2] == 'left' then
  from, to = 0, 0
end
local lost = redis.call('ZRANGEBYSCORE', KEYS[1], from, to, 'LIMIT', 0, 1)[1]
if lost then
  redis.call('ZADD', KEYS[1], string.format('-%.0f', now + ARGV[1]), lost)
end
return lost
