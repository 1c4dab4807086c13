-- Describes streams. Leaves their messages in Redis, but for the beginning of the newest one.
-- KEYS session hash
-- ARGV most bytes of that beginning, then names of streams. The keys of the streams are not in KEYS;
--      they share the slot of the session hash.
-- Returns for each stream a list: number of its events, ids of the first and the last one ('' for
--      none), ms until it expires (negative if it does not), '1' if it is complete and was delivered
--      to its end, time and tool of the call (''), owner (''), tail (''), the beginning of the newest
--      message, bytes of that message.
local result = {}
for i = 2, #ARGV do
  local name = ARGV[i]
  local key = streamKey(name)
  local state = redis.call('HMGET', KEYS[1], OWNER .. name, TAIL .. name, CALL .. name)
  local first = redis.call('XRANGE', key, '-', '+', 'COUNT', 1)[1]
  local last = redis.call('XREVRANGE', key, '+', '-', 'COUNT', 1)[1]
  local score = tonumber(redis.call('ZSCORE', ORDER, name) or STAGE)
  local newest, call = '', state[3] or ''
  for n = 1, last and #last[2] or 0, 2 do
    if last[2][n] == 'd' then
      newest = last[2][n + 1]
    elseif last[2][n] == 'c' then
      call = last[2][n + 1]
    end
  end
  result[#result + 1] = {
    redis.call('XLEN', key), first and first[1] or '', last and last[1] or '',
    redis.call('PTTL', key), score < STAGE and '1' or '0', call, state[1] or '', state[2] or '',
    string.sub(newest, 1, tonumber(ARGV[1])), #newest }
end
return result
