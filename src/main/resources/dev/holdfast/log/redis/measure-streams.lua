-- Measures streams. Leaves the messages in Redis.
-- KEYS logs of the streams
-- Returns for each stream the number of its events, and the ids of the first and the last one, which
-- are empty if there is none.
local result = {}
for _, key in ipairs(KEYS) do
  local first = redis.call('XRANGE', key, '-', '+', 'COUNT', 1)[1]
  local last = redis.call('XREVRANGE', key, '+', '-', 'COUNT', 1)[1]
  table.insert(result, redis.call('XLEN', key))
  table.insert(result, first and first[1] or '')
  table.insert(result, last and last[1] or '')
end
return result
