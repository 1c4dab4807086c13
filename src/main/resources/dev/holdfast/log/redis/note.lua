-- Notes from where the upstream of an open stream can go on, which no event tells.
-- KEYS session | ARGV name, owner, number of the stream's last event, upstream id
if redis.call('HGET', KEYS[1], 'o:' .. ARGV[1]) == ARGV[2] then
  redis.call('HSET', KEYS[1], 'u:' .. ARGV[1], ARGV[3] .. ' ' .. ARGV[4])
end
return 'OK'
